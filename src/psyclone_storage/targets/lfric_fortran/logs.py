"""Log messages of generated code."""

from __future__ import annotations

from collections.abc import Iterator

from psyclone_storage.ir.expr import Binary, Expr, Literal, Name
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Call
from psyclone_storage.lowering.infrastructure import LoweringContext
from psyclone_storage.targets.lfric_fortran import abi

_LONGEST = 72
"""The columns that the text of a message may fill in one line."""


def log_call(context: LoweringContext, words: str, level: abi.Log) -> Call:
    """Return the statement that logs `words`; level ERROR stops the program."""
    imports = context.work.imports
    event = imports.local(abi.LFRicModule.LOG, abi.Log.EVENT)
    return Call(
        Name(event), (character_text(words), Name(imports.local(abi.LFRicModule.LOG, level)))
    )


def character_text(words: str) -> Expr:
    """Return `words` as a character expression in parts that fit on a line."""
    parts = [Literal(f'"{part}"', Intrinsic.CHARACTER) for part in _parts(words)]
    text: Expr = parts[0]
    for part in parts[1:]:
        text = Binary(Operator.CONCATENATE, text, part)
    return text


def _parts(words: str) -> Iterator[str]:
    rest = words.replace('"', "'")
    while len(rest) > _LONGEST:
        end = rest.rfind(" ", 0, _LONGEST) + 1 or _LONGEST
        yield rest[:end]
        rest = rest[end:]
    yield rest
