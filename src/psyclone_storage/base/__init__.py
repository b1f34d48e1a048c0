"""The floor that every room stands on: source positions, diagnostics, names, text.

Nothing here knows what a compiler or a storage is.
"""
