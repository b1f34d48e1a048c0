"""Deprecated package; its contents are in `pipeline`, `targets`, `jit` and `tools`."""
