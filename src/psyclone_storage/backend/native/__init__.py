"""Python that binds data, and C beside it that computes: loops with kernels in them."""
