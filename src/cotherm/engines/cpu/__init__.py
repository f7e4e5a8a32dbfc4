"""Kernels for the processor: compiled by Numba, run in threads, cached on disk after the first use."""
