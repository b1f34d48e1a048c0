"""Parsing of Python kernels and algorithms with `ast`, without executing them."""
