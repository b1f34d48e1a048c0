"""Names of arrays that pointers may denote, in all procedures of a program."""

from __future__ import annotations

import re
from collections import defaultdict
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

_USE = regex(r"^[ \t]*use\b[^\n]*(?:&[ \t]*\n[^\n]*)*", re.IGNORECASE | re.MULTILINE)
_POINTER = "=>"
"""Stands for the names of all pointers."""
_TARGET = regex(r"=>[\s&]*(\w+)", re.IGNORECASE)


def pointed_names(uses: ProgramUses) -> frozenset[str]:
    """Return the names of arrays that pointers may denote, in any procedure of the files.

    They are the names after `=>`, those in statements that are not read, and those of arguments for
    which a procedure may associate a pointer. Procedures that are not known may do so, unless they
    are in the settings.
    """
    found = set[str]()
    passed = defaultdict[str, set[str]](set)
    texts = dict[int, str]()
    for name in uses.procedures:
        code = uses.code(name)
        texts[id(code.module.source)] = code.module.source.text
        found |= frozenset() if code.internal is None else code.internal.names
        for line in walk_lines(code.body):
            found.update(_of_line(line))
            for call in call_sites((line,), code):
                for actual, dummy in _of_call(call, code, uses):
                    passed[dummy].add(actual)
    for text in texts.values():
        found.update(map(key_of, _TARGET.findall(_USE.sub("", text))))
    queue = [_POINTER, *found]
    for one in queue:
        new = passed[one] - found
        found |= new
        queue += new
    return frozenset(found)


def _of_line(line: un.Line) -> Iterator[str]:
    if isinstance(line, un.Opaque):
        yield from line.names
    for expr in expressions_of(line):
        for part in ex.walk(expr):
            if isinstance(part, ex.StructureConstructor):
                yield from names_in(part)


def _of_call(call: ProcedureCall, code: Routine, uses: ProgramUses) -> Iterator[tuple[str, str]]:
    """Yield the arguments for which a procedure may associate pointers, with its names for them."""
    names = uses.called(call, code)
    key = call.procedure.key if isinstance(call.procedure, ex.Name) else ""
    outside = uses.outside.readers | uses.outside.on_device
    if not names and (key in HARMLESS or key in outside):
        return
    for at, arg in enumerate(call.args):
        path = path_of(arg.value if isinstance(arg, ex.Keyword) else arg)
        if path is None:
            continue
        if not names:
            yield path.root, _POINTER
        for one in names:
            yield from ((path.root, dummy) for dummy in _target(uses.code(one), at, arg))


def _target(code: Routine, at: int, arg: ex.Expr) -> Iterator[str]:
    """Yield the name of a dummy argument that is a target, or `_POINTER`."""
    keys = code.dummy_keys
    key = arg.key if isinstance(arg, ex.Keyword) else keys[at] if at < len(keys) else ""
    item = code.declared(key)
    if item is None or "pointer" in item.words:
        yield _POINTER
    elif "target" in item.words:
        yield key
