"""Backend ``qemu``: plain QEMU in user mode. No root, no daemon, no network, no socket files.

The command line is a list of small functions that each return words; those of the data disks are in drives.py. Only the
throwaway root is a qcow2 overlay.
"""

from __future__ import annotations

import contextlib
import re
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zassay import proc
from zassay.errors import Problem
from zassay.machine.channel import Agent, Qmp, Reply
from zassay.machine.drives import Disk, disk_words
from zassay.machine.leftovers import Record
from zassay.machine.spec import MachineSpec

QEMU = "qemu-system-x86_64"
# no_timer_check: on a host that is busy while it boots the emulated timer comes late, and the kernel takes it for broken.
KERNEL_WORDS = "console=ttyS0 net.ifnames=0 mitigations=off panic=-1 quiet loglevel=4 random.trust_cpu=on no_timer_check"
# What a guest that lives for minutes does without; together a second of an emulated boot.
SHORT_LIFE = "nokaslr rodata=off audit=0 lsm=capability nowatchdog edd=off ipv6.disable=1 8250.nr_uarts=1 cryptomgr.notests"
# All emulated CPUs read one counter, which Linux cannot know: it would take the slow HPET for its clock (a fifth of a cell's
# time) and measure each CPU's loops anew (0.1 s a CPU). The clock gate compares the guest's clock with the host's in each run.
EMULATED = "tsc=reliable lpj=10000000"


@dataclass(frozen=True)
class Launch:
    """All that decides a QEMU command line, but for what differs from start to start (descriptors, logs)."""

    accel: str
    cpu_model: str
    cpus: int
    memory: int
    kernel: Path
    initrd: Path
    root: Path
    disks: tuple[Disk, ...] = ()
    ram_file: Path | None = None
    ram_shared: bool = False
    incoming: bool = False
    extra: tuple[str, ...] = field(default=())
    virtual_time: int | None = None


def launch_of(machine: MachineSpec, accel: str, image: Path, disks: tuple[Disk, ...] = ()) -> Launch:
    """This machine with the image of a cache entry; the accelerator decides the CPU model."""
    return Launch(
        accel=accel,
        cpu_model=machine.cpu_model[accel],
        cpus=machine.cpus,
        memory=machine.memory,
        kernel=image / "vmlinux",
        initrd=image / "initrd",
        root=image / "disk.qcow2",
        disks=disks,
        virtual_time=_virtual_time(machine, accel),
    )


def _virtual_time(machine: MachineSpec, accel: str) -> int | None:
    if machine.virtual_time is not None and accel != "tcg":
        raise Problem(
            f"machines/{machine.name}.yaml: virtual_time: only an emulated CPU has instructions to count, and this is {accel}",
            "config accel: tcg, or a machine without virtual_time",
        )
    return machine.virtual_time


def machine_words(launch: Launch) -> list[str]:
    threads = "multi" if launch.virtual_time is None else "single"
    accel = f"tcg,thread={threads},tb-size=256" if launch.accel == "tcg" else launch.accel
    head = [QEMU, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-M", "q35", "-accel", accel]
    # sleep=on: while nothing is to be done the clock goes with the host's, so that a disk may take its time.
    clock = [] if launch.virtual_time is None else ["-icount", f"shift={launch.virtual_time},sleep=on"]
    return [*head, *clock, "-cpu", launch.cpu_model, "-smp", str(launch.cpus), *memory_words(launch)]


def memory_words(launch: Launch) -> list[str]:
    size = f"{launch.memory >> 20}M"
    if launch.ram_file is None:
        return ["-m", size]
    share = "on" if launch.ram_shared else "off"
    backend = f"memory-backend-file,id=ram,size={size},mem-path={launch.ram_file},share={share}"
    return ["-m", size, "-object", backend, "-machine", "memory-backend=ram"]


def kernel_words(launch: Launch) -> list[str]:
    words = " ".join([KERNEL_WORDS, SHORT_LIFE, *([EMULATED] if launch.accel == "tcg" else [])])
    return ["-kernel", str(launch.kernel), "-initrd", str(launch.initrd), "-append", words]


def console_words(console: Path) -> list[str]:
    return ["-serial", f"file:{console}"]


def channel_words(agent_fd: int, qmp_fd: int) -> list[str]:
    return [
        *["-device", "virtio-serial-pci,addr=0x4", "-chardev", f"socket,id=agent,fd={agent_fd}"],
        *["-device", "virtserialport,chardev=agent,name=zassay.agent"],
        *["-chardev", f"socket,id=qmp,fd={qmp_fd}", "-mon", "chardev=qmp,mode=control"],
    ]


def entropy_words() -> list[str]:
    return ["-device", "virtio-rng-pci,addr=0x3", "-device", "vmgenid,guid=auto"]


def root_words(root: Path) -> list[str]:
    drive = f"driver=qcow2,node-name=root,file.driver=file,file.filename={root},cache.no-flush=on"
    return ["-blockdev", drive, "-device", "virtio-blk-pci,drive=root,serial=root,addr=0x5"]


def command_line(launch: Launch, console: Path, agent_fd: int, qmp_fd: int) -> list[str]:
    disks = [word for index, disk in enumerate(launch.disks) for word in disk_words(disk, index)]
    incoming = ["-incoming", "defer"] if launch.incoming else []
    return [
        *machine_words(launch),
        *kernel_words(launch),
        *console_words(console),
        *channel_words(agent_fd, qmp_fd),
        *entropy_words(),
        *root_words(launch.root),
        *disks,
        *launch.extra,
        *incoming,
    ]


def make_overlay(backing: Path, overlay: Path, backing_format: str = "qcow2") -> None:
    words = ["qemu-img", "create", "-q", "-f", "qcow2", "-F", backing_format, "-b", str(backing), str(overlay)]
    proc.run(words, deadline_s=30)


class Guest:
    """A running virtual machine with a shell (the agent) and QMP."""

    def __init__(self, process: subprocess.Popen[bytes], agent: Agent, qmp: Qmp, console: Path, argv: Sequence[str]) -> None:
        self._process, self._agent = process, agent
        self.qmp, self.console, self.argv = qmp, console, tuple(argv)
        self.started = time.monotonic()

    def run(self, script: str, deadline_s: float) -> Reply:
        """Run a script; when no reply comes, the Problem shows what the console said last, a panic first."""
        try:
            return self._agent.run(script, deadline_s)
        except Problem as problem:
            panic = re.search(r"Kernel panic.*", self._console_text())
            raise Problem(f"{problem.message}: {panic.group(0)}" if panic else problem.message, self.log_tail()) from None

    def put(self, path: str, data: bytes, mode: int = 0o644) -> Reply:
        return self._agent.put(path, data, mode)

    def must(self, script: str, deadline_s: float) -> Reply:
        """Run a script that has to succeed; the Problem shows it, its code, its last lines and the console log."""
        reply = self.run(script, deadline_s)
        if reply.code != 0:
            tail = proc.failure_hint((reply.out + reply.err).decode(errors="replace"), self.console)
            raise Problem(f"guest command ended with code {reply.code}: {script.strip()}", tail)
        return reply

    def wait_ready(self, deadline_s: float) -> float:
        """Seconds from the start of QEMU to the end of the first command in the guest."""
        try:
            self.run("true", deadline_s)
        except Problem as problem:
            raise Problem(f"the guest did not come up: {problem.message}", problem.hint) from None
        return time.monotonic() - self.started

    def log_tail(self) -> str:
        return proc.failure_hint(self._console_text(), self.console)

    def _console_text(self) -> str:
        return self.console.read_text(errors="replace") if self.console.exists() else ""

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)


@contextlib.contextmanager
def start(launch: Launch, console: Path, record: Record | None = None) -> Iterator[Guest]:
    """Start a virtual machine; it ends with the block, and with this process even when that is killed."""
    log = console.with_suffix(".qemu.log")
    with contextlib.ExitStack() as stack:
        agent_here, agent_there = map(stack.enter_context, _pair())
        qmp_here, qmp_there = map(stack.enter_context, _pair())
        argv = command_line(launch, console, agent_there.fileno(), qmp_there.fileno())
        fds = (agent_there.fileno(), qmp_there.fileno())
        process = stack.enter_context(proc.child(argv, log=log, pass_fds=fds))
        agent_there.close()
        qmp_there.close()
        if record:
            record.guest(process.pid)

        def alive() -> bool:
            return process.poll() is None

        guest = Guest(process, Agent(agent_here, alive), Qmp(qmp_here, alive), console, argv)
        try:
            guest.qmp.greet()
        except Problem as problem:
            raise Problem(f"QEMU did not start: {problem.message}", proc.failure_hint(log.read_text(), log)) from None
        yield guest
