"""LFRic's corpus in Python: the invokes of an algorithm, which call its kernels in Fortran."""

from __future__ import annotations

from pathlib import Path

from psyclone_storage.driver.fortran import FORTRAN
from psyclone_storage.frontend.files import read_source
from psyclone_storage.infrastructures.lfric_words import BUILTINS
from psyclone_storage.ir.expr import Binary, Element, Expr, Index, Literal, Member, Name, Unary
from psyclone_storage.ir.parsed import ParsedAlgorithm, ParsedCall
from psyclone_storage.ir.types import Intrinsic

CORPUS = Path(__file__).parent / "corpus" / "lfric"
KERNELS = CORPUS / "kernels"
_KNOWN = {name.lower(): name for name in BUILTINS}


def read(file: Path) -> ParsedAlgorithm:
    """Return an algorithm in Fortran."""
    return FORTRAN.link_algorithm(FORTRAN.read_algorithm(read_source(file)), {})


def in_python(algorithm: ParsedAlgorithm) -> str:
    """Return a function with the invokes of an algorithm, in order."""
    lines: list[str] = []
    for invoke in algorithm.invokes:
        calls = [call_in_python(one) for one in invoke.calls]
        if invoke.label:
            calls.append(f'name="{invoke.label}"')
        lines += ["    invoke(", *(f"        {one}," for one in calls), "    )"]
    kernels = {
        name: f'fortran_kernel("{KERNELS / module}.f90", "{original}")'
        for name, (module, original) in kernels_of(algorithm).items()
    }
    head = ["from psyclone_storage.lfric import *", ""]
    head += [f"{name} = {text}" for name, text in kernels.items()]
    return "\n".join([*head, "", "", "def step():", *(lines or ["    pass"]), ""])


def kernels_of(algorithm: ParsedAlgorithm) -> dict[str, tuple[str, str]]:
    """Return the module of each kernel that is called, and its name there, by its name here."""
    found: dict[str, tuple[str, str]] = {}
    for invoke in algorithm.invokes:
        called = {one.key for one in invoke.calls}
        for use in (use for scope in invoke.scopes for use in scope.uses):
            for name in use.only or ():
                if name.key in called and name.key not in _KNOWN:
                    found[name.local.lower()] = (use.module.lower(), name.original.lower())
    return found


def call_in_python(call: ParsedCall) -> str:
    """Return a call of an invoke."""
    name = _KNOWN.get(call.key, call.key)
    return f"{name}({', '.join(_text(one.expr) for one in call.args)})"


def _text(expr: Expr) -> str:
    match expr:
        case Literal(intrinsic=Intrinsic.LOGICAL):
            return str(bool(expr.value))
        case Literal(intrinsic=Intrinsic.REAL):
            return repr(float(expr.text.split("_")[0].lower().replace("d", "e")))
        case Literal():
            return expr.text.split("_")[0]
        case Name(text):
            return text.lower()
        case Member(base, name):
            return f"{_text(base)}.{name.lower()}"
        case Element(base, items) | Index(base, items):
            return f"{_text(base)}[{', '.join(map(_index, items))}]"
        case Unary(op, operand):
            return f"{op.spelling}{_text(operand)}"
        case Binary(op, left, right):
            return f"({_text(left)} {op.spelling} {_text(right)})"
    raise NotImplementedError(type(expr).__name__)


def _index(item: Expr) -> str:
    text = _text(item)
    return str(int(text) - 1) if text.isdigit() else text
