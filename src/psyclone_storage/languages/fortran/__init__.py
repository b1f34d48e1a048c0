"""Fortran: reading, resolving names, printing, and editing of files."""
