"""Readers and printers of Fortran, Python and C, and tables of operators and intrinsics.

A reader converts text to the records of `ir/parsed.py` and `ir/code.py` and does not depend on an
API. A printer converts units and typed code to text and does not depend on an infrastructure.
"""
