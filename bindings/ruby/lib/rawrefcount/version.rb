# frozen_string_literal: true

module Rawrefcount
  VERSION = "0.3.0"
end
