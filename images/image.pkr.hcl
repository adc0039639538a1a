# Any image: boots the base disk by its own bootloader, provisions, tests and packs it. What differs between images is read
# from images/<name>.yaml. Valid for Packer 1.6.6 (Debian 12) and for current ones, which need their plugins installed by
# hand: a required_plugins block would be a parse error for 1.6.6.

packer {
  required_version = ">= 1.6.6"
}

variable "image" {
  type        = string
  description = "Path of images/<name>.yaml."
}

variable "base_disk" {
  type        = string
  description = "Path of the raw base disk."
}

variable "base_sha256" {
  type        = string
  description = "The base disk's digest."
}

variable "disk_mib" {
  type        = string
  description = "The base disk's size; the image keeps it."
}

variable "output" {
  type        = string
  description = "Folder for what the build makes; it has no folder named packer yet."
}

variable "ssh_key" {
  type        = string
  description = "Path of the private key made for this build; the public one lies beside it."
}

variable "accelerator" {
  type    = string
  default = "tcg"
}

variable "cpu" {
  type    = string
  default = "EPYC"
}

variable "version" {
  type        = string
  default     = "0"
  description = "The version of the Vagrant box."
}

locals {
  spec      = yamldecode(file(var.image))
  provision = "${path.root}/provision"
}

source "qemu" "image" {
  iso_url          = var.base_disk
  iso_checksum     = "sha256:${var.base_sha256}"
  disk_image       = true
  disk_size        = "${var.disk_mib}M"
  skip_resize_disk = true
  disk_interface   = "virtio"
  disk_discard     = "unmap"
  disk_cache       = "unsafe"
  format           = "qcow2"
  output_directory = "${var.output}/packer"
  vm_name          = "disk.qcow2"

  accelerator  = var.accelerator
  machine_type = "pc"
  cpus         = 2
  memory       = 1024
  headless     = true
  net_device   = "virtio-net"
  boot_wait    = "1s"
  qemuargs = [
    ["-cpu", var.cpu],
    ["-netdev", "user,id=user.0,restrict=on,hostfwd=tcp:127.0.0.1:{{ .SSHHostPort }}-:22"],
    ["-fw_cfg", "name=opt/zassay/authorized_keys,file=${var.ssh_key}.pub"],
    ["-serial", "file:${var.output}/serial.log"],
    ["-device", "virtio-net,netdev=user.0"],
    ["-device", "virtio-rng-pci"],
  ]

  communicator         = "ssh"
  ssh_username         = "root"
  ssh_private_key_file = var.ssh_key
  ssh_timeout          = "10m"
  shutdown_command     = "systemctl poweroff"
  shutdown_timeout     = "5m"
}

build {
  sources = ["source.qemu.image"]

  provisioner "shell" {
    environment_vars = [
      "ZASSAY_KERNEL=${local.spec.expected.kernel}",
      "ZASSAY_ZFS=${local.spec.expected.zfs}",
      "ZASSAY_TOOLS=${join(" ", local.spec.tools)}",
    ]
    scripts = [
      "${local.provision}/configure.sh",
      "${local.provision}/self-test.sh",
      "${local.provision}/packages.sh",
    ]
  }

  provisioner "file" {
    direction   = "download"
    source      = "/run/zassay/self-test.json"
    destination = "${var.output}/self-test.json"
  }

  provisioner "file" {
    direction   = "download"
    source      = "/run/zassay/packages.tsv"
    destination = "${var.output}/packages.tsv"
  }

  provisioner "shell" {
    script = "${local.provision}/clean.sh"
  }

  post-processors {
    post-processor "shell-local" {
      environment_vars = ["DISK=${var.output}/packer/disk.qcow2"]
      script           = "${local.provision}/pack.sh"
    }
    post-processor "vagrant" {
      keep_input_artifact = true
      compression_level   = 1
      include             = ["${var.output}/info.json"]
      output              = "${var.output}/${local.spec.name}.box"
    }
    post-processor "checksum" {
      checksum_types = ["sha256"]
      output         = "${var.output}/packer.sha256"
    }
    post-processor "manifest" {
      output     = "${var.output}/packer.json"
      strip_path = true
      custom_data = {
        image   = local.spec.name
        base    = var.base_sha256
        version = var.version
      }
    }
  }
}
