"""The handful of array kernels everything else is written in, one folder per kind of machine."""
