"""The engine for one NVIDIA GPU: CuPy's arrays, and CUDA kernels of our own where those of libraries are slow."""
