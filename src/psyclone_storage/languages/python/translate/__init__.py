"""Programs in Fortran as programs in Python: kernels, and the algorithms that invoke them."""
