#!/bin/sh
# What is really installed: name, version, architecture.
set -eu
mkdir -p /run/zassay
dpkg-query -W -f '${db:Status-Status}\t${Package}\t${Version}\t${Architecture}\n' |
    sed -n 's/^installed\t//p' >/run/zassay/packages.tsv
wc -l </run/zassay/packages.tsv
