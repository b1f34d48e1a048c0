"""Utilities used by all layers: source positions, diagnostics, names and text.

This package depends neither on the compiler nor on storages.
"""
