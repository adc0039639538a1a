# YAML files checked against workflows/schemas/*.schema.yaml, as far as images/ and machines/ use JSON Schema.
# The keys are listed there and nowhere else; a keyword that is not understood here is an error, not a silent yes.

require "yaml"

module Zassay
  # One clear message for people: Vagrant prints it without a trace of Ruby and ends with a non-zero code.
  class Problem < Vagrant::Errors::VagrantError
    def initialize(message, hint = nil)
      @text = [message, *hint.to_s.lines(chomp: true).map { |line| "  #{line}" }].join("\n")
      super()
    end

    def error_message
      @text
    end
  end

  # A schema, and checking a value against it.
  class Schema
    ROOT = File.expand_path("../..", __dir__)
    TYPES = { "object" => Hash, "array" => Array, "string" => String, "integer" => Integer, "number" => Numeric }.freeze
    REMARKS = %w[$schema $defs title description].freeze

    def self.load(path, schema)
      value = read(path)
      new(schema).check(value, path)
      value
    end

    def self.read(path)
      YAML.safe_load(File.read(path), filename: path)
    rescue Psych::Exception => e
      raise Problem, "#{shown(path)}: not YAML: #{e.message}"
    rescue SystemCallError => e
      raise Problem, "#{shown(path)}: #{e.message}"
    end

    def self.shown(path)
      path.delete_prefix("#{ROOT}/")
    end

    def initialize(name)
      @whole = self.class.read(File.join(ROOT, "workflows/schemas/#{name}.schema.yaml"))
    end

    def check(value, path)
      @path = path
      visit(@whole, value, "")
    end

    private

    def visit(schema, value, where)
      schema.each do |keyword, rule|
        next if REMARKS.include?(keyword)

        handler = "check_#{keyword.delete("$").downcase}"
        raise Problem, "workflows/schemas: lib/schema.rb does not know #{keyword}" unless respond_to?(handler, true)

        send(handler, rule, value, where, schema)
      end
    end

    def wrong(where, what, hint = nil)
      raise Problem.new(["#{self.class.shown(@path)}:", where.delete_prefix("."), what].reject(&:empty?).join(" "), hint)
    end

    def check_ref(rule, value, where, _schema)
      visit(rule.delete_prefix("#/").split("/").reduce(@whole) { |part, key| part.fetch(key) }, value, where)
    end

    def check_type(rule, value, where, schema)
      return if Array(rule).any? { |type| value.is_a?(TYPES.fetch(type)) }

      wrong(where, "#{it_is(value)}, not #{Array(rule).join(" or ")}", schema["description"])
    end

    # YAML takes a bare off, on, yes or no for a boolean.
    def it_is(value)
      return "is #{value.inspect}" unless [true, false].include?(value)

      "is the boolean #{value} (for the word write \"#{value ? "on" : "off"}\" in quotes)"
    end

    def check_required(rule, value, where, _schema)
      missing = rule - (value.is_a?(Hash) ? value.keys : rule)
      wrong(where, "lacks #{missing.join(", ")}", "required keys: #{rule.join(", ")}") unless missing.empty?
    end

    def check_properties(rule, value, where, _schema)
      return unless value.is_a?(Hash)

      rule.each { |key, schema| visit(schema, value[key], "#{where}.#{key}") if value.key?(key) }
    end

    def check_additionalproperties(rule, value, where, schema)
      known = schema.fetch("properties", {}).keys
      extra = value.is_a?(Hash) ? value.keys - known : []
      return extra.each { |key| visit(rule, value[key], "#{where}.#{key}") } if rule.is_a?(Hash)
      return if rule || extra.empty?

      wrong(where, "has an unknown key: #{extra.join(", ")}", "known keys: #{known.sort.join(", ")}")
    end

    def check_items(rule, value, where, _schema)
      value.each_with_index { |each, index| visit(rule, each, "#{where}[#{index}]") } if value.is_a?(Array)
    end

    def check_minitems(rule, value, where, _schema)
      wrong(where, "has #{value.size} entries, at least #{rule} are needed") if value.is_a?(Array) && value.size < rule
    end

    def check_uniqueitems(rule, value, where, _schema)
      wrong(where, "has an entry twice") if rule && value.is_a?(Array) && value.uniq.size < value.size
    end

    def check_enum(rule, value, where, _schema)
      wrong(where, it_is(value), "legal values: #{rule.join(", ")}") unless rule.include?(value)
    end

    def check_minimum(rule, value, where, _schema)
      wrong(where, "is #{value}, less than #{rule}") if value.is_a?(Numeric) && value < rule
    end

    def check_maximum(rule, value, where, _schema)
      wrong(where, "is #{value}, more than #{rule}") if value.is_a?(Numeric) && value > rule
    end

    def check_pattern(rule, value, where, schema)
      wrong(where, "is #{value.inspect}", schema["description"]) if value.is_a?(String) && !value.match?(rule)
    end
  end
end
