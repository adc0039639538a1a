"""A filesystem reached over NFS from its own guest: served on the loopback, and mounted over the place where it lies.

Workloads see the same path either way. NFS 4.2 over TCP alone, so no port mapper and no lock daemons are needed; the server's
grace period, in which clients of an earlier server could claim their locks again, is ended at once, as there were none.
"""

from __future__ import annotations

from zassay.filesystems import MOUNT, Filesystem
from zassay.study import Settings

LOCAL, NFS = "local", "nfs"
SERVED = "/srv/zassay"
THREADS = 8
KIND = "nfs4"
SERVE = f"""mkdir -p {SERVED}
mount --bind {MOUNT} {SERVED}
modprobe -a nfsd nfsv4
mountpoint -q /proc/fs/nfsd || mount -t nfsd nfsd /proc/fs/nfsd
exportfs -o rw,sync,no_root_squash,no_subtree_check,insecure,fsid=0 127.0.0.1:{SERVED}
pidof rpc.mountd >/dev/null || rpc.mountd --no-nfs-version 3
rpc.nfsd --no-nfs-version 3 --no-udp {THREADS}
echo Y >/proc/fs/nfsd/v4_end_grace
mount -t {KIND} -o vers=4.2,proto=tcp,sec=sys,hard 127.0.0.1:/ {MOUNT}
"""
# The client's cache goes with its mount; without threads and exports the server holds nothing of the filesystem.
END = f"umount {MOUNT}\nexportfs -ua\nexportfs -f\nrpc.nfsd 0\numount {SERVED}\n"
READ_BACK = (
    f"while read -r _ _where _kind _; do if [ $_where = {MOUNT} ]; then _last=$_kind; fi; done </proc/mounts\n"
    "printf 'path\\t%s\\n' \"$_last\" >>$OUT/readback\n"
)


class OverNfs(Filesystem):
    """Without a name, as it is none by itself: settings.path asks for it on top of another."""

    packages = {"debian": ("nfs-kernel-server", "nfs-common")}
    not_run = "the images have no NFS server yet"

    def __init__(self, under: Filesystem) -> None:
        self._under = under
        self.name = under.name

    def warm(self, settings: Settings) -> str:
        return self._under.warm(settings)

    def create(self, settings: Settings, devices: list[str]) -> str:
        return f"{self._under.create(settings, devices)}{SERVE}{READ_BACK}"

    def flush(self) -> str:
        return f"sync -f {MOUNT}\n{self._under.flush()}"

    def make_cold(self) -> str:
        return f"{END}{self._under.make_cold()}{SERVE}"

    def after(self) -> str:
        return self._under.after()

    def weigh(self) -> str:
        return self._under.weigh()

    def expected(self, settings: Settings) -> dict[str, str]:
        return self._under.expected(settings) | {"path": KIND}

    def space(self, text: str) -> tuple[int, int]:
        return self._under.space(text)

    def cached(self, text: str) -> float:
        return self._under.cached(text)

    def health(self, text: str) -> tuple[str, float]:
        return self._under.health(text)

    def facts(self) -> str:
        return self._under.facts()

    def counters(self) -> tuple[str, ...]:
        return self._under.counters()

    def accounts(self) -> str:
        return self._under.accounts()

    def pressed(self, settings: Settings) -> float:
        return self._under.pressed(settings)
