"""Python: reading of kernels and algorithms, and translation from Fortran."""
