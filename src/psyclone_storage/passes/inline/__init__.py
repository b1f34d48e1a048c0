"""Inlining of procedures called by Python and Fortran kernels."""
