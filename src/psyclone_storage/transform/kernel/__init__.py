"""Transformations of the code of kernels."""
