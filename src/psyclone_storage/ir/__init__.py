"""Frozen data that every compiler room speaks: what was parsed, what it means, what is emitted.

Only data, pure walks over it and its own consistency checks; no policy of any domain.
"""
