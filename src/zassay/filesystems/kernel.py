"""What the filesystems of the Linux kernel share: one device, options that are all said, and a page cache to be emptied.

A study's properties are ZFS's. What is set here stands in each filesystem's own tables, and a study changes it by its full
name: ``ext4.mkfs.inode_size`` or ``ext4.mount.commit`` among the properties. Names of others are passed over, so that a
study of several filesystems says all of them once. A tunable with a dot (``vm.dirty_bytes``) is a sysctl, here as for ZFS.
"""

from __future__ import annotations

import shlex
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from zassay import registry
from zassay.errors import Problem, unknown
from zassay.filesystems import MOUNT, Filesystem
from zassay.readers import Unreadable, pairs, whole
from zassay.study import Settings

# How it was mounted is kept in the guest, so that it is mounted the same way after its cache was emptied.
AGAIN = "/run/zassay/mount"
RESIDENT = Path(__file__).with_name("resident.pl").read_text()
COUNT_FILES = f"perl - {MOUNT} <<'END_OF_PERL'\n{RESIDENT}END_OF_PERL\n"
# Words of a mount as the kernel shows them: name=value, noname, name. Last said counts.
SHOWN = r"""declare -A _shown=([atime]=on)
shown() {
    local IFS=$',\n' _w
    for _w in $1; do
        case $_w in
            relatime) _shown[atime]=relatime ;;
            *=*) _shown[${_w%%=*}]=${_w#*=} ;;
            no?*) _shown[${_w#no}]=off ;;
            *) _shown[$_w]=on ;;
        esac
    done
}
"""
# The device as the kernel calls it, and the options that it shows.
WHERE = f"""while read -r _s _m _ _o _; do
    if [ $_m = {MOUNT} ]; then _source=$(readlink -f $_s) _options=$_o; fi
done </proc/mounts
"""
MEMINFO = r"""while read -r _k _v _; do printf 'meminfo.%s\t%s\n' ${_k%:} $_v; done </proc/meminfo
"""
SPACE = """read -r _size _blocks _free _available < <(stat -f -c '%S %b %f %a' {mount})
read -r _was <$OUT/empty
_used=$((_blocks - _free))
_full=$((100 * _used / (_used + _available)))
"""


class KernelFilesystem(Filesystem):
    """A filesystem on one device. ``mkfs`` and ``mount`` are its options with the values they have unless a study says
    others; ``unshown`` what an option is when the kernel shows nothing of it."""

    module = ""
    mkfs: Mapping[str, str] = {}
    mount: Mapping[str, str] = {}
    unshown: Mapping[str, str] = {}
    smallest = 0

    @abstractmethod
    def format(self, options: dict[str, str], device: str) -> str:
        """The command that makes an empty filesystem on ``device``."""

    @abstractmethod
    def made(self, device: str) -> str:
        """Commands that print ``mkfs.NAME<TAB>value`` for each option, as the filesystem itself says them."""

    def show_options(self, device: str) -> str:
        """Commands that hand what the kernel shows of the mount to the function ``shown``."""
        return f'{WHERE}shown "$_options"\n'

    def errors(self, device: str) -> str:
        """Commands that set ``_wrong`` where the filesystem counts errors of its own."""
        return ""

    def warm(self, settings: Settings) -> str:
        # The same words for all, so that one template serves every filesystem of a block.
        import zassay.filesystems as package

        every = registry.every(package, KernelFilesystem)  # type: ignore[type-abstract]
        modules = " ".join(sorted({cls.module for cls in every.values()} - {""}))
        return f"for _m in {modules}; do modprobe -q $_m || true; done\n"

    def create(self, settings: Settings, devices: list[str]) -> str:
        if settings.pool["layout"] != "single" or len(devices) != 1:
            raise Problem(f"settings.pool: {self.name} takes one disk", "legal: layout single and one disk")
        self._check_size(settings)
        device = devices[0]
        words = ",".join(_word(key, value) for key, value in self._options(settings, "mount").items())
        mount = f"mount -t {self.name} -o {shlex.quote(words)} {device} {MOUNT}"
        return (
            f"{sysctls(settings)}{self.format(self._options(settings, 'mkfs'), device)} >$OUT/mkfs 2>&1\n"
            f"mkdir -p {MOUNT}\necho {shlex.quote(mount)} >{AGAIN}\n. {AGAIN}\n"
            f"stat -f -c %f {MOUNT} >$OUT/empty\n{self._read_back(settings, device)}"
        )

    def flush(self) -> str:
        return f"sync -f {MOUNT}"

    def make_cold(self) -> str:
        return f"umount {MOUNT}\nsync\necho 3 >/proc/sys/vm/drop_caches\n. {AGAIN}\n{{\n{COUNT_FILES}{MEMINFO}}} >$OUT/cold\n"

    def after(self) -> str:
        return (
            f"{SPACE.format(mount=MOUNT)}"
            f"{{ {COUNT_FILES.rstrip()}\nprintf 'used\\t%s\\n' $(((_was - _free) * _size)); }} >$OUT/space\n"
            f"{WHERE}_device=${{_source##*/}}\n_wrong=\n{self.errors('$_device')}"
            f"case $_options in ro | ro,*) _wrong=READ-ONLY ;; esac\n"
            f"printf '{self.name}\\t%s\\t%s\\t%s\\t%s\\t%s\\n' $((_size * _blocks)) $((_size * _used)) $((_size * _free)) "
            f"$_full ${{_wrong:-ONLINE}} >$OUT/pool\n"
        )

    def expected(self, settings: Settings) -> dict[str, str]:
        options = {f"{part}.{key}": value for part in ("mkfs", "mount") for key, value in self._options(settings, part).items()}
        return options | expected_sysctls(settings)

    def space(self, text: str) -> tuple[int, int]:
        found = pairs(text)
        if "logical" not in found or "used" not in found:
            raise Unreadable("space: logical or used is missing")
        return whole(found["logical"], "space"), whole(found["used"], "space")

    def cached(self, text: str) -> float:
        found = pairs(text)
        logical = whole(found["logical"], "cold")
        return whole(found["resident"], "cold") / logical if logical else 0.0

    def health(self, text: str) -> tuple[str, float]:
        words = text.split()
        return "" if words[5] == "ONLINE" else words[5], whole(words[4], "pool") / 100

    def _options(self, settings: Settings, part: str) -> dict[str, str]:
        """The options of ``mkfs`` or ``mount``: our own, with what the study says otherwise."""
        own: dict[str, str] = dict(getattr(self, part))
        said = others_of(settings.properties).get(self.name, {})
        known = [f"{each}.{key}" for each in ("mkfs", "mount") for key in getattr(self, each)]
        for name in said:
            if name not in known:
                raise unknown(f"settings.properties: {self.name}", "option", name, known)
        return {key: said.get(f"{part}.{key}", value) for key, value in own.items()}

    def _check_size(self, settings: Settings) -> None:
        size = int(settings.pool["disk_size"])
        if size < self.smallest:
            raise Problem(
                f"settings.pool.disk_size: {size >> 20} MiB is too small for {self.name}",
                f"{self.name} wants {self.smallest >> 20} MiB at least",
            )

    def _read_back(self, settings: Settings, device: str) -> str:
        lines = [
            f"printf 'mount.%s\\t%s\\n' {key} \"${{_shown[{key}]-{self.unshown.get(key, 'not shown')}}}\""
            for key in self._options(settings, "mount")
        ]
        printed = "\n".join(lines)
        return f"{SHOWN}{self.show_options(device)}{{\n{printed}\n{self.made(device)}{show_sysctls(settings)}}} >>$OUT/readback\n"


def others_of(properties: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """What a study says of the kernel's filesystems, by filesystem and option. A user property of ZFS has a colon."""
    import zassay.filesystems as package

    known = registry.every(package, KernelFilesystem)  # type: ignore[type-abstract]
    found: dict[str, dict[str, str]] = {}
    for key, value in properties.items():
        name, dot, option = key.partition(".")
        if dot and ":" not in key:
            if name not in known:
                raise unknown("settings.properties", "filesystem", name, known)
            found.setdefault(name, {})[option] = value
    return found


def _word(key: str, value: str) -> str:
    """An option as mount takes it. The times of access have words of their own."""
    if key == "atime":
        return {"on": "strictatime", "off": "noatime"}.get(value, value)
    return {"on": key, "off": f"no{key}"}.get(value, f"{key}={value}")


def _sysctl(settings: Settings) -> dict[str, str]:
    return {key: value for key, value in sorted(settings.tunables.items()) if "." in key}


def sysctls(settings: Settings) -> str:
    return "".join(f"echo {shlex.quote(value)} >/proc/sys/{key.replace('.', '/')}\n" for key, value in _sysctl(settings).items())


def show_sysctls(settings: Settings) -> str:
    return "".join(
        f"read -r _v </proc/sys/{key.replace('.', '/')}; printf 'tunable.%s\\t%s\\n' {key} \"$_v\"\n" for key in _sysctl(settings)
    )


def expected_sysctls(settings: Settings) -> dict[str, str]:
    return {f"tunable.{key}": value for key, value in _sysctl(settings).items()}
