"""The PSyclone names that a script on a file can import: nodes, symbols and tools."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from psyclone_storage.base.diagnostic import InternalError
from psyclone_storage.scripting.errors import GenerationError
from psyclone_storage.scripting.psyir import (
    calls,
    choices,
    containers,
    data,
    datatypes,
    directives,
    expressions,
    loops,
    statements,
    symbols,
    tools,
)
from psyclone_storage.scripting.psyir.live import LiveNode

_NODE_MODULES = (
    calls, choices, containers, data, directives, expressions, loops, statements
)  # fmt: skip
_OF_OUR_OWN = {"UnitNode", "WhereLoop", "CallExpression"}


def _classes(modules: tuple[ModuleType, ...], base: type | tuple[type, ...]) -> dict[str, type]:
    """Return the public subclasses of `base` that the modules define, by name."""
    return {
        name: kind
        for module in modules
        for name, kind in vars(module).items()
        if isinstance(kind, type)
        and issubclass(kind, base)
        and kind.__module__ == module.__name__
        and not name.startswith("_")
        and name not in _OF_OUR_OWN
    }


NODES: Mapping[str, object] = {
    "Node": LiveNode,
    "Fparser2CodeBlock": statements.CodeBlock,
    **_classes(_NODE_MODULES, LiveNode),
}
"""`psyclone.psyir.nodes`."""

SYMBOLS: Mapping[str, object] = {
    **_classes((symbols,), (symbols.Symbol, symbols.SymbolInterface, symbols.SymbolTable)),
    **_classes((datatypes,), datatypes.DataType),
    **{name: value for name, value in vars(datatypes).items() if name.endswith("_TYPE")},
}
"""`psyclone.psyir.symbols`."""

CORE: Mapping[str, object] = {
    "AccessInfo": tools.AccessInfo,
    "AccessSequence": tools.AccessSequence,
    "AccessType": tools.AccessType,
    "Signature": expressions.Signature,
    "VariablesAccessMap": tools.VariablesAccessMap,
}
"""`psyclone.core`."""

TOOLS: Mapping[str, object] = {
    "CallTreeUtils": tools.CallTreeUtils,
    "DTCode": tools.DTCode,
    "DependencyTools": tools.DependencyTools,
    "Message": tools.Message,
    "ReadWriteInfo": tools.ReadWriteInfo,
}
"""`psyclone.psyir.tools`."""

ERRORS: Mapping[str, object] = {"GenerationError": GenerationError, "InternalError": InternalError}
"""`psyclone.errors`."""
