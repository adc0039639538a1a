"""Machines: how a guest is started, spoken to and ended. One file per backend."""
