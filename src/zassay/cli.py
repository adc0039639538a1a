"""The command line: one verb per module of ``zassay.commands``, found by looking."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence

from zassay import __version__, commands
from zassay.errors import Problem


def verbs() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))


def spoken(module: str) -> str:
    """A verb as it is typed: ``audit_table`` is audit-table, ``import_`` is import (which no module may be called)."""
    return module.rstrip("_").replace("_", "-")


def parser(only: str | None = None) -> argparse.ArgumentParser:
    """The argument parser; with ``only``, that verb alone is imported (starting stays quick)."""
    top = argparse.ArgumentParser(prog="zassay", description="Ask published ZFS performance studies again.")
    top.add_argument("--version", action="version", version=f"zassay {__version__}")
    top.add_argument("--debug", action="store_true", help="show the traceback of an error")
    subparsers = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name in [only] if only else verbs():
        module = importlib.import_module(f"zassay.commands.{name}")
        summary = (module.__doc__ or "").strip().splitlines()[0]
        verb = subparsers.add_parser(spoken(name), help=summary, description=module.__doc__)
        module.add_arguments(verb)
        verb.set_defaults(main=module.main)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    words = list(sys.argv[1:] if argv is None else argv)
    first = next((word for word in words if not word.startswith("-")), "")
    args = parser(next((verb for verb in verbs() if spoken(verb) == first), None)).parse_args(words)
    try:
        code: int = args.main(args) or 0
    except Problem as problem:
        if args.debug:
            raise
        print(f"zassay {args.verb}: {problem}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read our output has seen enough; nothing may be printed to it at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print(f"zassay {args.verb}: stopped by you; what was finished is kept", file=sys.stderr)
        return 130
    return code
