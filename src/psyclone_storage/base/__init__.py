"""Common utilities of all layers: source positions, diagnostics, names, text.

Nothing here depends on the compiler or on storages.
"""
