#!/bin/sh
# After the packages: make the root the same on every host, whoever builds it and when; then mask and enable units.
# Arguments: the root being built. Environment: ZASSAY_MASKED_UNITS.
set -eu
umask 022
root=$1
# Made at random or stamped with the time by the packages' own scripts.
rm -f "$root"/etc/ssh/ssh_host_*
rm -f "$root"/var/lib/dkms/zfs/*/*/*/log/make.log
printf '\014\261\272\000' >"$root/etc/hostid"
: >"$root/etc/machine-id"
# Copied from the host that builds: its name, its resolver, its mirror.
echo zassay >"$root/etc/hostname"
echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf"
: >"$root/etc/apt/sources.list"
rm -f "$root"/etc/apt/sources.list.d/*

for unit in $ZASSAY_MASKED_UNITS; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
chroot "$root" systemctl enable --quiet zassay-access.service systemd-networkd.service ssh.service
