#!/bin/sh
# On this host, after the build: pack the disk (environment: DISK) with zstd, which is read back quickly.
set -eu
qemu-img convert -f qcow2 -O qcow2 -c -o compression_type=zstd "$DISK" "$DISK.packed"
mv "$DISK.packed" "$DISK"
