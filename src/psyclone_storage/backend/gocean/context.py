"""What all statements of one routine have in common, and how they reach what a field holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from psyclone_storage.backend import abi_gocean as abi
from psyclone_storage.backend.workspace import Section, Workspace
from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.ir.expr import Expr, Name, Verbatim, spell
from psyclone_storage.ir.schedule import KernelCall, Schedule
from psyclone_storage.ir.unit import Declare

_OPERATOR = re.compile(r"^[^(]*[-+*/]|\)[^(]*[-+*/]")
"""An operator outside of brackets."""


@dataclass(frozen=True, slots=True)
class Context:
    """A routine that is being lowered. `paths` lead from a field, `{0}`, to grid properties."""

    schedule: Schedule
    work: Workspace
    paths: Mapping[str, str]

    def reach(self, property_name: str, field: Expr) -> Expr:
        """Return the Fortran that leads from `field` to a grid property.

        It is in brackets if it computes something, for what it is put into may compute further.
        """
        path = self.paths[property_name]
        text = path.replace("{0}", spell(field))
        return Verbatim(f"({text})" if _OPERATOR.search(path) else text)

    def counter(self, name: str) -> Name:
        """Return the variable that a loop counts."""
        return self.work.variable(Section.COUNTERS, name, Declare(name, abi.INTEGER))


def looped_field(call: KernelCall, bounds_from: int) -> Expr:
    """Return the field that a loop over `call` takes its bounds from."""
    actual = call.args[bounds_from]
    if actual.datum is None:
        raise InternalError(f"'{call.uid}' takes its bounds from a constant.")
    return actual.value
