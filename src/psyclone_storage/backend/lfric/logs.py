"""Messages of generated code, through the infrastructure's log."""

from __future__ import annotations

from psyclone_storage.backend import abi_lfric as abi
from psyclone_storage.backend.lfric.context import Context
from psyclone_storage.ir.expr import Literal, Name
from psyclone_storage.ir.types import Intrinsic
from psyclone_storage.ir.unit import Call


def log_call(context: Context, words: str, level: abi.Log) -> Call:
    """Return the statement that logs `words`; at level ERROR the infrastructure then stops."""
    imports = context.work.imports
    text = words.replace('"', '""')
    return Call(
        Name(imports.local(abi.Module.LOG, abi.Log.EVENT)),
        (Literal(f'"{text}"', Intrinsic.CHARACTER), Name(imports.local(abi.Module.LOG, level))),
    )
