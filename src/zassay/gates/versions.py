"""The kernel's half and the tools' half of ZFS are the same version."""

from zassay.gates import Gate
from zassay.record import RunFiles


class Versions(Gate):
    name = "versions"

    def check(self, run: RunFiles) -> tuple[bool, str, str]:
        guest = run.facts["guest"]
        module, tools = guest["zfs_module"], guest["zfs_tools"].removeprefix("zfs-")
        return module == tools, f"tools {module} as the module", f"tools {tools}"
