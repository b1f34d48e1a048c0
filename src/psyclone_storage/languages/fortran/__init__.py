"""Fortran support: parsing, name resolution, printing and editing of source files."""
