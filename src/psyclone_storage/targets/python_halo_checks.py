"""Calls of the run-time checks of halos in generated Python code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from psyclone_storage.base.fresh import Fresh
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import runtime_ops as ops
from psyclone_storage.ir.schedule import Datum
from psyclone_storage.ir.unit import Call, Line
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.lowering.profile import python_text

HALO_CHECKS = "halo_checks"
"""The object of the runtime that checks halos."""
_ANNEXED = {Fresh.YES: 1, Fresh.MAYBE: 0, Fresh.NO: -1}
_Actions = Mapping[type[ops.RuntimeAction], Callable[[LoweringContext, Any], tuple[Line, ...]]]


def halo_checks_in_python(owner: Callable[[Datum, int | None], ex.Expr]) -> _Actions:
    """Return the actions of checks; `owner` returns the object of a field or component."""

    def begun(context: LoweringContext, asked: ops.BeginHaloChecks) -> tuple[Line, ...]:
        name = python_text(context.schedule.name)
        return (_call("begin", name, ex.whole(asked.every), ex.logical(asked.keeps_annexed)),)

    def checked(_context: LoweringContext, asked: ops.CheckHalo) -> tuple[Line, ...]:
        field = owner(asked.datum, asked.component)
        words = (python_text(ex.spell(field)), python_text(asked.reader))
        return (_call("needs", field, *words, asked.depth, ex.logical(asked.annexed)),)

    def noted(_context: LoweringContext, asked: ops.NoteWrite) -> tuple[Line, ...]:
        field = owner(asked.datum, asked.component)
        state = (ex.whole(_ANNEXED[asked.annexed]), ex.logical(asked.trusted))
        return (_call("wrote", field, python_text(asked.writer), asked.clean, *state),)

    return {
        ops.BeginHaloChecks: begun,
        ops.EndHaloChecks: lambda _context, _asked: (_call("finish"),),
        ops.CheckHalo: checked,
        ops.NoteWrite: noted,
    }


def _call(procedure: str, *args: ex.Expr) -> Call:
    return Call(ex.Member(ex.Name(HALO_CHECKS), procedure), args)
