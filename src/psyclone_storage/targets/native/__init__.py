"""Generation of Python modules that bind data, and C or CUDA code with loops and kernels."""
