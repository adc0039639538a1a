"""Bytes and packets of every network interface."""

from zassay.collectors import Collector


class Nic(Collector):
    name = "nic"
    specs = ("file:/proc/net/dev",)
    commands = {"freebsd": "netstat -ibn", "illumos": "kstat -p link:0"}
