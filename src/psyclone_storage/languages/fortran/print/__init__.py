"""Printing of units as Fortran."""
