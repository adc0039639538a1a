"""What every test may rely on: the checkout's own tools come first on PATH, and no setting of the caller leaks in."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis

ROOT = Path(__file__).resolve().parents[1]

os.environ["PATH"] = f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"
for name in ("ZASSAY_ROOT", "ZASSAY_CONFIG"):
    os.environ.pop(name, None)

hypothesis.settings.register_profile("zassay", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis.settings.load_profile("zassay")
