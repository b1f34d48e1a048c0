"""Fortran printed from units."""
