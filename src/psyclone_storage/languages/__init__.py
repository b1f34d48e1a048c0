"""Readers and printers of Fortran, Python and C, and tables of operators and intrinsics.

A reader turns text into the records of `ir/parsed.py` and `ir/code.py` without knowledge of an API.
A printer turns units and typed code into text without knowledge of an infrastructure.
"""
