# frozen_string_literal: true

module Rawrefcount
  # By which names do Ruby's objects refer to others? Rawrefcount.explain and Rawrefcount.snapshot ask for those
  # that only Ruby code can tell. Instance variables, elements and members need none of this.
  #
  # @private
  module Names # :nodoc:
    CONSTANTS = Module.instance_method(:constants)
    AUTOLOAD = Module.instance_method(:autoload?)
    GET = Module.instance_method(:const_get)
    BINDING = Proc.instance_method(:binding)
    LOCATION = Proc.instance_method(:source_location)

    class << self
      # Yields owner, name and value for each reference; the owner of a root is nil. Yields owner and text where
      # an object has more to say than its class.
      def each(frames, &block)
        frames.each { |frame| each_local(nil, frame, &block) }
        each_global(&block)
        warns = Warning[:deprecated]
        Warning[:deprecated] = false
        ObjectSpace.each_object(Module) { |mod| each_constant(mod, &block) }
        ObjectSpace.each_object(Proc) { |closure| each_of_closure(closure, &block) }
      ensure
        Warning[:deprecated] = warns
      end

      private

      # (Some globals of one sign belong to a method; to ask for the name of the file that is read opens it.)
      def each_global
        global_variables.each do |name|
          next if !name.match?(/\A\$[a-z]\w*\z/i) || name == :$FILENAME

          yield nil, "global #{name}", eval(name.to_s)
        rescue StandardError
          next                          # an extension does not let us read it
        end
      end

      def each_constant(mod)
        CONSTANTS.bind_call(mod, false).each do |name|
          next if AUTOLOAD.bind_call(mod, name, false)

          yield (mod unless mod == ::Object), "constant #{name}", GET.bind_call(mod, name, false)
        rescue NameError
          next                          # it is gone already
        end
      end

      def each_of_closure(closure, &block)
        file, line = LOCATION.bind_call(closure)
        yield closure, "Proc at #{file}:#{line}" if file
        scope = BINDING.bind_call(closure)
        yield closure, "self", scope.receiver
        each_local(closure, scope, &block)
      rescue ArgumentError
        nil                             # it is C's, and has no binding
      end

      def each_local(owner, scope)
        scope.local_variables.each { |name| yield owner, "local #{name}", scope.local_variable_get(name) }
      end
    end
  end
  private_constant :Names
end
