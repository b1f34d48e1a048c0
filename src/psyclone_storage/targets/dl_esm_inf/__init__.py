"""Lowering of GOcean schedules to dl_esm_inf.

All names come from `abi`; the paths to components of a grid come from the settings.
"""
