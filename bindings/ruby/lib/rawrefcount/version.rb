# frozen_string_literal: true

module Rawrefcount
  VERSION = "1.0.0"
end
