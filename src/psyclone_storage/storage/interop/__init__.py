"""Protocols for importing the arrays of other libraries and exporting ours."""
