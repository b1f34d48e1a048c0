"""Inlining of procedures: their statements replace the calls of kernels in Python and Fortran."""
