"""Procedures in the place of their calls, for kernels in Python and in Fortran."""
