"""The table of intrinsic functions: its names exist in the libraries that it names."""

from __future__ import annotations

import builtins
import ctypes
import ctypes.util
import math
import sys

import numpy as np
import pytest

from psyclone_storage.ir.intrinsics import ELEMENTAL, FUNCTIONS
from psyclone_storage.languages.intrinsics import INTRINSICS, LIMITS

VALUES = {1: (0.5,), 2: (0.75, 0.5)}


OF_C = {"cbrt", "exp2", "expm1", "log1p", "log2"}


def test_each_row_is_a_function_of_fortran_or_of_c() -> None:
    assert set(INTRINSICS) - FUNCTIONS == OF_C
    assert {row.generic for row in INTRINSICS.values()} - ELEMENTAL == OF_C
    for name, row in INTRINSICS.items():
        assert row.arguments == INTRINSICS[row.generic].arguments, name
        assert INTRINSICS[row.generic].generic == row.generic, name


def test_the_names_are_in_the_modules_of_python() -> None:
    for row in INTRINSICS.values():
        assert not row.builtin or hasattr(builtins, row.builtin)
        assert not row.math or hasattr(math, row.math)
        assert not row.numpy or hasattr(np, row.numpy)
    for limit in LIMITS.values():
        assert getattr(sys.float_info, limit.float_info) == getattr(np.finfo(float), limit.finfo)


@pytest.mark.parametrize("name", [name for name, row in INTRINSICS.items() if row.c])
def test_the_languages_compute_the_same(name: str) -> None:
    row = INTRINSICS[name]
    values = VALUES[row.arguments] if row.generic != "acosh" else (1.5,)
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), row.c)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * row.arguments
    expected = function(*values)
    for module, word in ((math, row.math), (np, row.numpy)):
        if word:
            assert math.isclose(getattr(module, word)(*values), expected, rel_tol=1e-12), word


def test_a_specific_name_is_called_as_its_generic_one_or_not_at_all() -> None:
    for row in INTRINSICS.values():
        generic = INTRINSICS[row.generic]
        assert row.c in ("", generic.c)
        assert row.math in ("", generic.math)
        assert row.numpy in ("", generic.numpy)
