# What the Vagrantfile asks for: which image, machine and cell were chosen, and where this checkout keeps its key and port.

require "digest"
require "fileutils"
require "json"
require "open3"
require "socket"
require "timeout"
require_relative "schema"

module Zassay
  ROOT = Schema::ROOT
  DEFAULT_MACHINE = "small".freeze
  PLAIN_DISK_BYTES = 1 << 30
  SIZE = /\A(\d+(?:\.\d+)?)\s*([KMGT]i?B?|B)?\z/
  CELL_DEADLINE_S = 60
  KEYGEN_DEADLINE_S = 30
  # libvirt numbers its own devices from 1 up and does not see this one.
  NIC_SLOT = "0x10".freeze

  # A data disk; the size goes to libvirt in bytes (a bare number would mean GiB).
  Disk = Struct.new(:serial, :bytes, :notes) do
    def size
      "#{bytes}B"
    end
  end

  # Size words as src/zassay/units.py reads them.
  def self.bytes(value, where)
    return value if value.is_a?(Integer)

    match = SIZE.match(value.strip) or raise Problem.new("#{where} is not a size: \"#{value}\"", "such as 512 MiB")
    (match[1].to_f * (1024**"BKMGT".index((match[2] || "B")[0]))).to_i
  end

  # Run a command of ours; its own message when it fails.
  def self.output(argv, deadline, hint)
    out, err, status = Timeout.timeout(deadline) { Open3.capture3(*argv) }
    raise Problem, err.strip.empty? ? "#{argv.join(" ")}: #{status}" : err.strip unless status.success?

    out
  rescue Errno::ENOENT
    raise Problem.new("#{argv.first} is not installed", hint)
  rescue Timeout::Error
    raise Problem, "#{argv.join(" ")}: no answer within #{deadline} s"
  end

  # The provider waits for an address from libvirt's DHCP; with QEMU's own network there is none to wait for.
  def self.use_loopback
    require "vagrant-libvirt/provider"
    VagrantPlugins::ProviderLibvirt::Provider.prepend(Loopback)
  rescue LoadError
    nil # the provider is not installed, and Vagrant says so
  end

  # Left alone, the provider's library allocates 1 GiB to each disk, and libvirt makes a smaller one as large as that.
  def self.use_exact_disks
    require "fog/libvirt"
    require "fog/libvirt/models/compute/volume"
    Fog::Libvirt::Compute::Volume.prepend(Exact)
  end

  # A volume is allocated whole, as a measurement's disk is, when nothing else is asked for.
  module Exact
    def initialize(attributes = {})
      whole = attributes[:capacity] && !attributes[:xml] ? { allocation: attributes[:capacity] } : {}
      super(whole.merge(attributes))
    end
  end

  # Where ssh finds the guest: the Vagrantfile's ssh.host and ssh.port decide.
  module Loopback
    def ssh_info
      { host: "127.0.0.1" } if state.id == :running
    end
  end

  # Image, machine and cell as the environment names them, read and checked.
  class Choice
    PLAIN_CLASSES = %w[file memory device].freeze

    attr_reader :cell, :image_name, :image, :machine_name, :machine

    def initialize(env)
      @env = env
      @cell = wanted("CELL") && read_cell(wanted("CELL"))
      @image_name = pick("image", names("images").first)
      @machine_name = pick("machine", DEFAULT_MACHINE)
      @image = read("image", @image_name)
      @machine = read("machine", @machine_name)
      @kvm = kvm_wanted
      @memory = Zassay.bytes(machine.fetch("memory"), "machines/#{machine_name}.yaml: memory")
    end

    # Vagrant's name of the node; the environment decides which one is meant.
    def name
      cell ? "#{cell.fetch("study")}.#{cell.fetch("cell")}" : "#{image_name}.#{machine_name}"
    end

    def cpus
      machine.fetch("cpus")
    end

    def memory_mib
      @memory >> 20
    end

    def cpu
      machine.fetch("cpu_model").fetch(kvm? ? "kvm" : "tcg")
    end

    def kvm?
      @kvm
    end

    def disks
      return cell.fetch("disks").map { |disk| Disk.new(disk.fetch("serial"), disk.fetch("bytes"), notes(disk)) } if cell

      machine.fetch("disks").map { |role, disk| Disk.new(role, PLAIN_DISK_BYTES, notes(of_class(role, disk))) }
    end

    def script
      cell&.fetch("script")
    end

    private

    def wanted(key)
      value = @env["ZASSAY_#{key}"]
      value unless value.nil? || value.empty?
    end

    def names(folder)
      Dir.glob(File.join(ROOT, folder, "*.yaml")).map { |path| File.basename(path, ".yaml") }.sort
    end

    def pick(what, default)
      asked = wanted(what.upcase)
      own = cell&.fetch(what)
      return own || asked || default unless own && asked && own != asked

      raise Problem.new("ZASSAY_#{what.upcase} is #{asked}, but ZASSAY_CELL #{wanted("CELL")} is measured on #{own}",
                        "unset ZASSAY_#{what.upcase}")
    end

    def read(what, name)
      known = names("#{what}s")
      return Schema.load(File.join(ROOT, "#{what}s", "#{name}.yaml"), what) if known.include?(name)

      raise Problem.new("ZASSAY_#{what.upcase}: unknown #{what} \"#{name}\"", "known #{what}s: #{known.join(", ")}")
    end

    def read_cell(text)
      study, cell = text.split("/", 2)
      raise Problem.new("ZASSAY_CELL is \"#{text}\"", "write study/cell") if cell.nil? || cell.empty? || study.empty?

      own = File.join(ROOT, ".venv/bin/zassay")
      argv = [File.executable?(own) ? own : "zassay", "cell", study, cell, "--json"]
      JSON.parse(Zassay.output(argv, CELL_DEADLINE_S, "make setup"))
    end

    # The cheap half of `zassay machine`: whether a guest really boots under KVM is for ZASSAY_ACCEL to say.
    def kvm_wanted
      accel = wanted("ACCEL") || (kvm_shows ? "kvm" : "tcg")
      return accel == "kvm" if %w[kvm tcg].include?(accel)

      raise Problem.new("ZASSAY_ACCEL is \"#{accel}\"", "legal values: kvm, tcg")
    end

    def kvm_shows
      File.readable?("/dev/kvm") && File.writable?("/dev/kvm") && File.read("/proc/cpuinfo").match?(/^flags.*\b(vmx|svm)\b/)
    end

    # A disk with what its class says, when that is a name under the machine's classes.
    def of_class(role, disk)
      classes = machine.fetch("classes", {})
      name = disk.fetch("class")
      return classes.fetch(name).merge(disk.reject { |key, _| key == "class" }) if classes.key?(name)
      return disk if PLAIN_CLASSES.include?(name)

      known = [*PLAIN_CLASSES, *classes.keys].join(", ")
      raise Problem.new("machines/#{machine_name}.yaml: disks.#{role}.class is \"#{name}\"", "legal values: #{known}")
    end

    # What a measurement's disk has and this one has not.
    def notes(disk)
      found = []
      found << "limit of #{disk["bytes_per_s"]} B/s not set" unless [nil, 0].include?(disk["bytes_per_s"])
      found << "limit of #{disk["operations_per_s"]} operations/s not set" unless [nil, 0].include?(disk["operations_per_s"])
      found << "no model of a rotating disk" if disk.key?("rotation")
      found << "in a file, not in memory" if disk["class"] == "memory"
      found << "empty: README.md says how to fill it" if disk["holds"] == "payload"
      found
    end
  end

  # What this checkout keeps for its guests in .vagrant/zassay: a key, a port each, and the box's metadata.
  class Place
    def initialize(choice)
      @choice = choice
      dot = File.expand_path(ENV["VAGRANT_DOTFILE_PATH"] || ".vagrant", File.join(ROOT, "vagrant"))
      @folder = File.join(dot, "zassay")
      FileUtils.mkdir_p(@folder)
    end

    # Domains of two checkouts on one host must not have one name.
    def prefix
      "zassay-#{Digest::SHA256.hexdigest(@folder)[0, 6]}-"
    end

    # A private key that opens this checkout's guests and nothing else, made when first asked for.
    def key
      path = File.join(@folder, "id_ed25519")
      make_key(path) unless File.file?(path)
      path
    end

    # A port of loopback, free when it was chosen, and the same from then on: the domain's definition holds it.
    def port
      path = File.join(@folder, "port-#{@choice.name}")
      whole(path) { TCPServer.open("127.0.0.1", 0) { |server| server.addr[1].to_s } } unless File.file?(path)
      Integer(File.read(path))
    end

    # The key as a string: libvirt's QEMU runs as another user, who may not read this folder.
    def qemu_words
      network = "user,id=zassay,restrict=on,hostfwd=tcp:127.0.0.1:#{port}-:22"
      words = ["-netdev", network, "-device", "virtio-net-pci,netdev=zassay,addr=#{NIC_SLOT}"]
      words + ["-fw_cfg", "name=opt/zassay/authorized_keys,string=#{File.read("#{key}.pub").strip}"]
    end

    # {version, url} of the built image's box, or nil. The version tells rebuilds apart: Vagrant would keep an older box of
    # the same one. The url is of metadata with an absolute path, which is what Vagrant understands.
    def box
      from = File.join(entry, "box.json")
      return unless File.file?(from)

      found = JSON.parse(File.read(from))
      latest = found.fetch("versions").first
      provider = latest.fetch("providers").first
      latest["version"] += ".#{provider.fetch("checksum")[0, 8].hex}"
      provider["url"] = "file://#{File.realpath(File.join(entry, provider.fetch("url")))}"
      path = File.join(@folder, "box-#{@choice.image_name}.json")
      whole(path) { JSON.pretty_generate(found) }
      { "version" => latest.fetch("version"), "url" => "file://#{path}" }
    end

    # Refuse, or say what differs from a measurement.
    def before_up(out)
      build = "zassay image build #{@choice.image_name} --link #{Schema.shown(entry)}"
      raise Problem.new("image #{@choice.image_name} is not built: no #{Schema.shown(entry)}", "build it with: #{build}") unless box

      out.info("#{@choice.cpus} CPUs (#{@choice.cpu}), #{@choice.memory_mib} MiB; for looking around, not for numbers")
      @choice.disks.each do |disk|
        out.info("disk /dev/disk/by-id/virtio-#{disk.serial}: #{[disk.bytes.fdiv(1 << 20).to_s + " MiB", *disk.notes].join("; ")}")
      end
    end

    private

    def entry
      File.join(ROOT, "results/images", @choice.image_name)
    end

    def whole(path)
      beside = "#{path}.#{Process.pid}"
      File.write(beside, yield)
      File.rename(beside, path)
    end

    def make_key(path)
      beside = "#{path}.#{Process.pid}"
      Zassay.output(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "zassay-vagrant", "-f", beside], KEYGEN_DEADLINE_S,
                    "install the ssh client (Debian: openssh-client)")
      File.rename("#{beside}.pub", "#{path}.pub")
      File.rename(beside, path)
    end
  end
end
