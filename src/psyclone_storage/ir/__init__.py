"""Immutable records shared by all layers of the compiler.

They represent parsed files, schedules, typed code and generated units. This package contains data,
traversals and consistency checks, but no rules of an API.
"""
