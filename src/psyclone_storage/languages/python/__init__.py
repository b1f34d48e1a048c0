"""Python support: parsing of kernels and algorithms, and translation from Fortran."""
