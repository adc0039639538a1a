#!/bin/sh
# Before the packages: files that their installation reads (initramfs, dkms) and that they must not ask about.
# Arguments: the root being built. Environment: ZASSAY_BASE this folder, ZASSAY_BOOT_MODULES, SOURCE_DATE_EPOCH.
set -eu
umask 022
root=$1
cd "$ZASSAY_BASE/files"
find . -type d -exec mkdir -p "$root/{}" \;
find . -type f | while read -r file; do
    mode=644
    [ -x "$file" ] && mode=755
    install -m "$mode" "$file" "$root/$file"
done
# Made here: git keeps no empty folder, so a clone has none to copy.
mkdir -p "$root/usr/share/initramfs-tools/modules.d"
for module in $ZASSAY_BOOT_MODULES; do
    echo "$module"
done >"$root/usr/share/initramfs-tools/modules.d/zassay"
