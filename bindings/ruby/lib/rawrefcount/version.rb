# frozen_string_literal: true

module Rawrefcount
  # That of the gem and of rawrefcount.h.
  VERSION = "2.0.0"
end
