"""A headless Chromium for tests, spoken to through two pipes: no driver, no port, and it ends with the test."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

COMMAND = "chromium-headless-shell"
DEADLINE_S = 60.0
START_S = 60.0
# As root Chromium has no sandbox; the page is our own. What it would fetch in the background it must not.
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run")
# The browser reads commands from descriptor 3 and answers on 4.
LAUNCH = "import os, sys; i, o, *argv = sys.argv[1:]; os.dup2(int(i), 3); os.dup2(int(o), 4); os.execv(argv[0], argv)"
TROUBLE = ("Runtime.exceptionThrown", "Log.entryAdded")


class Browser:
    """One page of one browser; every answer has a deadline."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._out, self._in = to_browser, from_browser
        self._buffer = b""
        self._number = 0
        self._session = ""
        self.events: list[dict[str, Any]] = []

    def attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: object) -> dict[str, Any]:
        """Send one command and wait for its answer; events that come before it are kept."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        answer = self._until(lambda each: each.get("id") == self._number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        result: dict[str, Any] = answer["result"]
        return result

    def _until(self, wanted: Any, deadline_s: float = DEADLINE_S) -> dict[str, Any]:
        end = time.monotonic() + deadline_s
        while True:
            message = self._next(end)
            if wanted(message):
                return message
            self.events.append(message)

    def _next(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert ready, "the browser did not answer in time"
            piece = os.read(self._in, 1 << 20)
            assert piece, "the browser ended"
            self._buffer += piece
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        return message

    def open(self, page: Path, width: int, height: int = 900) -> None:
        """Load a file at a width in CSS pixels, as a phone when it is narrow."""
        self.events.clear()
        mobile = width < 700
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call("Page.navigate", url=page.as_uri())
        if not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self._until(lambda each: each.get("method") == "Page.loadEventFired")

    def value(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def press(self, code: str) -> None:
        """Press and release a key: Enter or Space."""
        text, number = {"Enter": ("\r", 13), "Space": (" ", 32)}[code]
        for kind in ("keyDown", "keyUp"):
            key = code if code == "Enter" else text
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, text=text, windowsVirtualKeyCode=number)

    @property
    def troubles(self) -> list[str]:
        """What the console complained about since the page was opened."""
        kinds = [each for each in self.events if each.get("method") in TROUBLE or _is_console_error(each)]
        return [json.dumps(each["params"])[:500] for each in kinds]


def _is_console_error(event: dict[str, Any]) -> bool:
    return event.get("method") == "Runtime.consoleAPICalled" and event["params"]["type"] in ("error", "warning", "assert")


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser that is ended, with all its processes, on every way out."""
    command = shutil.which(COMMAND)
    assert command, f"{COMMAND} is not installed"
    with contextlib.ExitStack() as stack:
        profile = stack.enter_context(tempfile.TemporaryDirectory(prefix="zassay-browser-", ignore_cleanup_errors=True))
        theirs_in, ours_out = _high_pipe(stack)
        ours_in, theirs_out = _high_pipe(stack)
        options = [*OPTIONS, "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(theirs_in), str(theirs_out), command, *options],
            pass_fds=(theirs_in, theirs_out),
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        stack.callback(_end, process)
        found = Browser(ours_out, ours_in)
        found.attach()
        yield found


def _high_pipe(stack: contextlib.ExitStack) -> tuple[int, int]:
    """A pipe whose descriptors are out of the way of 3 and 4."""
    ends = []
    for low in os.pipe():
        ends.append(fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, 10))
        os.close(low)
    for end in ends:
        stack.callback(os.close, end)
    return ends[0], ends[1]


def _end(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(START_S)
