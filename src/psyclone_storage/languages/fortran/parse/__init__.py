"""Fortran parser for algorithms, kernel metadata and kernel subroutines."""
