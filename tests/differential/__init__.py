"""Comparison of our PSy layers with those of PSyclone over our own corpus."""
