"""Frozen records that all layers of the compiler share: parsed forms, schedules, typed code, units.

Only data, pure walks over it and its own consistency checks; no policy of any domain.
"""
