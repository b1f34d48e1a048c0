"""Deprecated location of `psyclone_storage.tools.factories`, removed after one release."""

import warnings

from psyclone_storage.tools.factories import (
    ActualArgument,
    CallInfo,
    Descriptor,
    FileInfo,
    InvokeInfo,
    KernelType,
    KernelTypeFactory,
    PSyFactory,
    make_scripted_compiler,
    parse,
)

__all__ = [
    "ActualArgument",
    "CallInfo",
    "Descriptor",
    "FileInfo",
    "InvokeInfo",
    "KernelType",
    "KernelTypeFactory",
    "PSyFactory",
    "make_scripted_compiler",
    "parse",
]

warnings.warn(
    "'psyclone_storage.driver.factories' has moved to 'psyclone_storage.tools.factories'.",
    DeprecationWarning,
    stacklevel=2,
)
