"""zassay: asks published ZFS performance studies again, and says which of their claims hold."""

__version__ = "0.1.0"
