#!/bin/sh
# Is this the system the image's file promises, and does its ZFS work? Ends with 1 and a line saying why when not.
# Environment: ZASSAY_KERNEL, ZASSAY_ZFS the expected versions (as far as given), ZASSAY_TOOLS what must be there.
set -eu

fail() {
    echo "self-test: $*" >&2
    exit 1
}

# is VALUE WANTED WHAT: VALUE is WANTED or goes on from it after a dot or dash.
is() {
    case $1 in
    "$2" | "$2".* | "$2"-*) ;;
    *) fail "$3 is $1, expected $2" ;;
    esac
}

kernel=$(uname -r)
is "$kernel" "$ZASSAY_KERNEL" kernel

modprobe zfs || fail "the zfs module does not load"
userland=$(zfs version | sed -n 's/^zfs-\([0-9].*\)$/\1/p')
module=$(zfs version | sed -n 's/^zfs-kmod-\(.*\)$/\1/p')
[ "$userland" = "$module" ] || fail "zfs userland is $userland, its module $module"
is "$userland" "$ZASSAY_ZFS" zfs

for tool in $ZASSAY_TOOLS; do
    command -v "$tool" >/dev/null || fail "no $tool"
done

work=$(mktemp -d /var/tmp/self-test.XXXXXX)
trap 'zpool destroy -f selftest 2>/dev/null || true; rm -rf "$work"' EXIT
truncate -s 128M "$work/disk"
zpool create -o cachefile=none -O compression=gzip -O mountpoint="$work/mnt" selftest "$work/disk" || fail "zpool create"
dd if=/dev/zero bs=1M count=16 2>/dev/null | tr '\0' 'z' >"$work/mnt/data"
sum=$(cksum <"$work/mnt/data")
zpool export selftest
zpool import -o cachefile=none -d "$work" selftest || fail "zpool import"
[ "$(cksum <"$work/mnt/data")" = "$sum" ] || fail "data differ after export and import"
zpool scrub -w selftest || fail "zpool scrub"
zpool status -x selftest | grep -q 'is healthy' || fail "$(zpool status selftest)"
ratio=$(zfs get -Hpo value compressratio selftest)
zpool destroy selftest || fail "zpool destroy"

mkdir -p /run/zassay
cat >/run/zassay/self-test.json <<END
{"kernel": "$kernel", "zfs": "$userland", "zfs_kmod": "$module", "hostid": "$(hostid)",
 "pool": "create, write, export, import, scrub, destroy: ok", "compressratio": "$ratio", "tools": "$ZASSAY_TOOLS"}
END
cat /run/zassay/self-test.json
