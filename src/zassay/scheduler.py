"""The I/O scheduler of the disks under test: set before anything is made on them, and read back as the kernel says it."""

from __future__ import annotations

from zassay.disks import roles
from zassay.errors import Problem
from zassay.study import Settings

KNOWN = ("none", "mq-deadline", "bfq", "kyber")
# The kernel loads bfq and kyber by itself when it is asked for them. A serial has no end of line, so its read "fails".
SCRIPT = r"""mkdir -p $OUT
for _d in /sys/block/*; do
    _s=
    if [ -r $_d/serial ]; then read -r _s <$_d/serial || true; fi
    case " {roles} " in
        *" $_s "*)
            if [ -n "$_s" ]; then
                echo {name} >$_d/queue/scheduler
                read -r _v <$_d/queue/scheduler
                printf 'scheduler.%s\t%s\n' "$_s" "$_v" >>$OUT/readback
            fi
            ;;
    esac
done
"""


def script(settings: Settings) -> str:
    """Nothing where the study leaves the scheduler as it is."""
    if not settings.scheduler:
        return ""
    if settings.scheduler not in KNOWN:
        raise Problem(f'settings.scheduler: "{settings.scheduler}" is not known', f"legal values: {', '.join(KNOWN)}")
    return SCRIPT.format(name=settings.scheduler, roles=" ".join(roles(settings.pool)))


def expected(settings: Settings) -> dict[str, str]:
    """What the read-back has to say; the kernel puts the one in force in brackets."""
    return {f"scheduler.{role}": settings.scheduler for role in roles(settings.pool)} if settings.scheduler else {}
