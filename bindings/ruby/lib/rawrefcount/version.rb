# frozen_string_literal: true

module Rawrefcount
  VERSION = "0.2.0"
end
