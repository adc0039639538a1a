"""Counters of virtual memory and of the scheduler: paging, swapping, context switches, load."""

from zassay.collectors import Collector


class Vm(Collector):
    name = "vm"
    specs = ("file:/proc/vmstat", "file:/proc/loadavg", "file:/proc/stat")
    commands = {"freebsd": "vmstat -s; sysctl kern.cp_time", "illumos": "kstat -p cpu::sys; kstat -p unix:0:vminfo"}
