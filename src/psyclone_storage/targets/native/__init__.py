"""Modules of Python that bind data, and C or CUDA that computes: loops with kernels in them."""
