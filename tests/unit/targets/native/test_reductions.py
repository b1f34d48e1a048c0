"""Functions for columns: what they reduce to has the type of the values."""

from __future__ import annotations

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.routine import KernelModule, Routine, specification_of
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.ir.unit import Declare
from psyclone_storage.targets.native import printer


def test_a_reduction_has_the_type_of_its_values() -> None:
    place = SourceText("made", "").whole()
    declared = (
        Declare("total", ScalarType(Intrinsic.REAL)),
        Declare("count", ScalarType(Intrinsic.INTEGER)),
    )
    code = Routine(
        "made", (), specification_of((), declared), (), KernelModule("made", place, place)
    )
    part = printer.ComputedPart(code, ("total", "count"))
    lines = list(printer._call("run", "0", part))
    assert lines[:2] == ["total_found = ctypes.c_double()", "count_found = ctypes.c_int32()"]
