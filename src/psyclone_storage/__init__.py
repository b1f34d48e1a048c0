"""A PSyKAl compiler joined to a storage runtime, for weather and climate models.

This file owns the version and imports nothing, so that `psyclone-storage --version`, and programs
that use only the storage runtime, never pay for the compiler.
"""

__version__ = "0.2.0"
