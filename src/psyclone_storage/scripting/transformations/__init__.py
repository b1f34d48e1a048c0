"""Transformations under PSyclone's names, in terms of our steps."""
