"""Faults on purpose: processes killed, disks full, memory taken away, files damaged (``python -m tests.torture``)."""
