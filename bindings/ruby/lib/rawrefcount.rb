# frozen_string_literal: true

require_relative "rawrefcount/version"
require_relative "rawrefcount/names"

# Counted C objects in Ruby: see README.md, and rrc_ruby.h for authors of extensions.
module Rawrefcount
  class << self
    # Called with the exception (nil: it was a throw, or Thread.exit) and the name of
    # the C type, when a dealloc, finalizer or clear of a C object was left by an exception.
    # Without a handler it is a warning.
    #
    # @return [#call, nil]
    attr_accessor :error_handler

    def report_error(error, type_name) # :nodoc:
      return error_handler.call(error, type_name) if error_handler

      what = error ? "#{error.message} (#{error.class})" : "it was left by a throw"
      warn "rawrefcount: error ignored in the deallocation of #{type_name}: #{what}", *error&.backtrace
    end
    private :report_error
  end
end

require "rawrefcount/rawrefcount"
