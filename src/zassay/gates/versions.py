"""The kernel's half and the tools' half of a filesystem are the same version, where it has two halves."""

from zassay.gates import Finding, Gate, no_matter
from zassay.record import RunFiles


class Versions(Gate):
    name = "versions"

    def check(self, run: RunFiles) -> Finding:
        guest = run.facts["guest"]
        if "zfs_module" not in guest and not run.filesystem.facts():
            return no_matter("a filesystem of the kernel's own")
        module, tools = guest["zfs_module"], guest["zfs_tools"].removeprefix("zfs-")
        return module == tools, f"tools {module} as the module", f"tools {tools}"
