#!/bin/sh
# What can only be set in a running system.
set -eu
echo "configure: $(uname -sr) on $(hostname)"
# A failed unit means that the base is not what it should be.
failed=$(systemctl list-units --state=failed --no-legend --plain | grep -v '^zassay-' || true)
if [ -n "$failed" ]; then
    echo "configure: failed units:" >&2
    echo "$failed" >&2
    exit 1
fi
