"""The specification parts of modules: what they declare and what they import."""

from __future__ import annotations

from psyclone_storage.base.source import SourceText
from psyclone_storage.frontend.fortran.units import UnitReader
from psyclone_storage.ir.parsed import Scope, ScopeKind


def read_modules(source: SourceText) -> tuple[Scope, ...]:
    """Return the specification parts of the modules of `source`."""
    reader = UnitReader(source)
    list(reader.others())
    modules = (scope for scope in reader.opened if scope.kind is ScopeKind.MODULE)
    return tuple(map(reader.scope, modules))
