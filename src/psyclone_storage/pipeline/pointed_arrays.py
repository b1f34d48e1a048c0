"""Names of arrays that pointers may denote, in all procedures of a program."""

from __future__ import annotations

import re
from collections.abc import Iterator

from psyclone_storage.analysis.bodies.effects import ProcedureCall, call_sites
from psyclone_storage.base.regex import regex
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import unit as un
from psyclone_storage.ir.intrinsics import HARMLESS
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.paths import path_of
from psyclone_storage.ir.rewrite import expressions_of, names_in, walk_lines
from psyclone_storage.ir.routine import Routine
from psyclone_storage.pipeline.program_uses import ProgramUses

_TARGET = regex(r"=>[\s&]*(\w+)", re.IGNORECASE)


def pointed_names(uses: ProgramUses) -> frozenset[str]:
    """Return the names of arrays that pointers may denote, in any procedure of the files.

    They are the names after `=>`, those in statements that are not read, and those of arguments for
    which a procedure may associate a pointer. Procedures that are not known may do so, unless they
    are in the settings.
    """
    found = set[str]()
    texts = dict[int, str]()
    for name in uses.procedures:
        code = uses.code(name)
        texts[id(code.module.source)] = code.module.source.text
        found |= frozenset() if code.internal is None else code.internal.names
        for line in walk_lines(code.body):
            found.update(_of_line(line, code, uses))
    for text in texts.values():
        found.update(map(key_of, _TARGET.findall(text)))
    return frozenset(found)


def _of_line(line: un.Line, code: Routine, uses: ProgramUses) -> Iterator[str]:
    if isinstance(line, un.Opaque):
        yield from line.names
    for expr in expressions_of(line):
        for part in ex.walk(expr):
            if isinstance(part, ex.StructureConstructor):
                yield from names_in(part)
    for call in call_sites((line,), code):
        yield from _of_call(call, code, uses)


def _of_call(call: ProcedureCall, code: Routine, uses: ProgramUses) -> Iterator[str]:
    names = uses.called(call, code)
    key = call.procedure.key if isinstance(call.procedure, ex.Name) else ""
    outside = uses.outside.readers | uses.outside.on_device
    if not names and (key in HARMLESS or key in outside):
        return
    for at, arg in enumerate(call.args):
        path = path_of(arg.value if isinstance(arg, ex.Keyword) else arg)
        if path is None:
            continue
        if not names or not all(_is_plain(uses.code(one), at, arg) for one in names):
            yield path.root


def _is_plain(code: Routine, at: int, arg: ex.Expr) -> bool:
    """Return whether a procedure cannot associate a pointer with an argument."""
    keys = code.dummy_keys
    key = arg.key if isinstance(arg, ex.Keyword) else keys[at] if at < len(keys) else ""
    item = code.declared(key)
    return item is not None and not item.words & {"pointer", "target"}
