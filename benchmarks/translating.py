"""How many kernels of LFRic have a form in Python, why others have none, and if bits are equal.

    python benchmarks/translating.py FOLDER...               every kernel below the folders
    python benchmarks/translating.py --only FILE FOLDER...   the kernels of one file
    python benchmarks/translating.py --refused FOLDER...     name every refusal and its place
    python benchmarks/translating.py --compare FOLDER...     compute, too
    python benchmarks/translating.py --preprocess 64 --modules FOLDER FOLDER...

Files that are preprocessed where they are built must have been, or are with `--preprocess`, which
says how many bits numbers of solvers have. It writes modules of namelists, too, from `rose-meta`.
Modules are looked for below the folders and those of `--modules`. A kernel with a subroutine for
each kind of numbers has several bodies, one of which has a form in Python. With `--compare` each
kernel that is translated is printed as C from its form in Python, and run beside what gfortran
makes of the author's subroutine, on the same random input (`tests/support/printed_bodies.py`).
"""

from __future__ import annotations

import argparse
import ast
import math
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

import numpy as np
from kernels_on_device import namelist_modules

from printed_bodies import GOOD, Bodies, Printed, checked
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import replace
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.config.settings import Api
from psyclone_storage.infrastructures.lfric import REAL
from psyclone_storage.ir.expr import Expr, Sort
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.routine import Routine
from psyclone_storage.ir.typing import CScope, PrintError
from psyclone_storage.ir.unit import Declare
from psyclone_storage.languages.c.printer import CUnit, print_c
from psyclone_storage.languages.fortran.parse.metadata import kernel_types, read_kernel
from psyclone_storage.languages.python.parse import metadata as python_metadata
from psyclone_storage.languages.python.parse import node_factory as nodes
from psyclone_storage.languages.python.parse.body import read_python_body
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.targets.dialects import LFRIC_WORDS
from psyclone_storage.targets.lfric import LFRIC
from psyclone_storage.targets.native.apis import MESHES
from psyclone_storage.targets.native.module_context import modules_around
from psyclone_storage.tools.c_code import KernelRequest
from psyclone_storage.tools.translate import generate_python

ROOT = Path(__file__).resolve().parents[1]
SETTINGS = load_settings("", "", search_context({}))
FORMS = ROOT / "external" / "lfric_infrastructure"
_BATCH = 12


def main() -> int:
    """Translate every kernel below the folders that are given, and compute if that is asked."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", default="", help="the one file to look at, without its ending")
    parser.add_argument("--refused", action="store_true", help="name every refusal")
    parser.add_argument("--compare", action="store_true", help="compute in both languages")
    parser.add_argument("--write", type=Path, help="where to leave what is translated")
    parser.add_argument("--pattern", default="*mod*.[fF]90", help="the files of kernels")
    parser.add_argument("--modules", nargs="*", type=Path, default=[], help="what kernels use")
    parser.add_argument("--preprocess", type=int, metavar="BITS", help="of numbers of solvers")
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if given.preprocess:
            preprocess(given, Path(scratch))
        return translate(given)


def translate(given: argparse.Namespace) -> int:
    """Translate what was asked for; print what has no form; return the exit status."""
    begun, texts, refused = time.perf_counter(), dict[Path, str](), 0
    reasons, alone = Counter[str](), Counter[str]()
    bodies, kernels = 0, 0
    every = (*given.folders, *given.modules)
    for path in kernel_files(given.folders, given.pattern, given.only):
        source = read_source(path)
        known = [read_kernel(source, name) for name in kernel_types(source)]
        bodies += sum(len(one.implementations) for one in known)
        try:
            wanted = KernelRequest(None, every, FORMS)
            texts[path] = generate_python(path, Api.LFRIC, SETTINGS, wanted)
            kernels += len(known)
        except CompileError as error:
            refused += 1
            told = {_reason(problem.message) for problem in error.problems}
            reasons.update(told)
            alone.update(told if len(told) == 1 else ())
            for problem in error.problems if given.refused else ():
                line = problem.span.line if problem.span else 0
                print(f"  {path.name}:{line} {problem.message}")
    print(f"{len(texts)} of {len(texts) + refused} files have a form in Python:"
          f" {kernels} of {bodies} bodies"
          f" ({time.perf_counter() - begun:.1f} s)", flush=True)  # fmt: skip
    for reason, count in reasons.most_common():
        print(f"{count:5}, {alone[reason]:3} for this alone: {reason}")
    for path, text in texts.items() if given.write else ():
        (given.write / f"{path.stem}.py").write_text(text, encoding="utf-8")
    if not given.compare:
        return 0
    ends = compared(texts, every)
    print(dict(ends))
    return 0 if set(ends) <= {*GOOD, "not compared"} else 1


def preprocess(given: argparse.Namespace, scratch: Path) -> None:
    """Put preprocessed copies in the place of the folders, and modules of namelists beside them."""
    trees = [*given.folders, *given.modules]
    copies = [scratch / str(number) for number, _ in enumerate(trees)]
    kinds = {"RDEF": 64, "R_SOLVER": given.preprocess, "R_TRAN": 64, "R_BL": 64}
    macros = [f"-D{kind}_PRECISION={bits}" for kind, bits in kinds.items()]
    for tree, copy in zip(trees, copies, strict=True):
        copy.mkdir()
        for path in sorted(tree.rglob("*.[fF]90")):
            to = (copy / path.relative_to(tree)).with_suffix(".f90")
            to.parent.mkdir(parents=True, exist_ok=True)
            command = ["cpp", "-traditional-cpp", "-P", "-undef", "-w", *macros, path, to]
            subprocess.run(command, check=True)
    namelists = scratch / "namelists"
    namelists.mkdir()
    for name, text in namelist_modules(trees):
        (namelists / f"{name}.f90").write_text(text, encoding="utf-8")
    given.folders = copies[: len(given.folders)]
    given.modules = [*copies[len(given.folders) :], namelists]


def kernel_files(folders: Sequence[Path], pattern: str, only: str) -> Iterator[Path]:
    """Yield the files with kernels, one of each name."""
    seen: set[str] = set()
    for folder in folders:
        for path in sorted(folder.rglob(pattern)):
            if path.name in seen or only not in {"", path.stem}:
                continue
            try:
                known = kernel_types(read_source(path))
            except CompileError:
                continue
            if known:
                seen.add(path.name)
                yield path


def _reason(message: str) -> str:
    """Return a reason as it is for others, too."""
    said = message.partition("has no form in Python: ")[2] or message
    return re.sub(r"'[^']*'", "'...'", said).rstrip(".")


# ---------------------------------------------------------------------------- computing


def compared(texts: dict[Path, str], folders: Sequence[Path]) -> Counter[str]:
    """Compute by kernels in both languages; return how many ended how, and print what differs."""
    bodies, ends = Bodies(folders), Counter[str]()
    kernels: list[Printed] = []
    for number, (path, text) in enumerate(texts.items()):
        for found in _beside_fortran(bodies, path, text, f"k{number}"):
            if isinstance(found, Printed):
                kernels.append(found)
            else:
                ends["not compared"] += 1
                print(f"{path.name}: not compared: {found}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for start in range(0, len(kernels), _BATCH):
            for kernel, answer in checked(kernels[start : start + _BATCH], Path(scratch)):
                end = answer.partition(":")[0] or "equal"
                ends[end] += 1
                if end != "equal":
                    print(f"{kernel.name} ({Path(kernel.source.name).name}): {answer}", flush=True)
    return ends


def _beside_fortran(bodies: Bodies, path: Path, text: str, tag: str) -> Iterator[Printed | str]:
    """Yield the kernels of a file, each with the form in C of its form in Python; or why none."""
    source, made = read_source(path), SourceText(path.with_suffix(".py").name, text)
    numbers = _numbers(text)
    for number, name in enumerate(python_metadata.python_kernel_names(LFRIC_WORDS, made)):
        parsed = python_metadata.read_python_kernel(LFRIC_WORDS, made, name)
        dummies = LFRIC.dummies(LFRIC.interpret(parsed, SETTINGS))
        code = read_python_body(LFRIC_WORDS, made, parsed.procedure, dummies)
        for one in _procedures(source, name):
            author = bodies.read(source, one)
            try:
                unit = _with_names_of(author, code, numbers)
            except (PrintError, StopIteration) as error:
                yield str(error)
            else:
                yield Printed(author.code, unit, f"{tag}_{number}", author, source)


def _procedures(source: SourceText, name: str) -> list[str]:
    """Return the subroutine of a kernel; of several the one of double precision."""
    found = next(read_kernel(source, one) for one in kernel_types(source)
                 if key_of(one) == key_of(name))  # fmt: skip
    every = list(found.implementations)
    if len(every) == 1:
        return every
    return [one for one in every if re.search(r"(double|64bit|r_def|r64)", one)][:1] or every[:1]


def _numbers(text: str) -> dict[str, float]:
    """Return the numbers that a module assigns to names."""
    values: dict[str, float] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            exec(ast.unparse(node), {"math": math, "np": np}, values)  # noqa: S102
    return values


def _literal(value: float) -> Expr:
    if isinstance(value, bool):
        return nodes.truth(value)
    if isinstance(value, int):
        return nodes.signed_integer(value)
    made = nodes.real(abs(value), REAL)
    return nodes.unary_operation(made) if value < 0 else made


def _with_names_of(author: CScope, code: Routine, numbers: dict[str, float]) -> CUnit:
    """Return the form in C of a kernel in Python, whose arguments are called as the author's."""
    declared = tuple(
        replace(item, attributes=("parameter",), value=_literal(numbers[item.name]))
        if isinstance(item, Declare) and not _known(author, item.key) else item
        for item in code.module.declarations
    )  # fmt: skip
    code = replace(code, module=replace(code.module, declarations=declared))
    unit = print_c(code, modules_around({code.key: code}, MESHES.kinds))
    own = code.module.symbols.symbols
    parameters, dummies = [], iter(author.code.dummy_keys)
    for item in unit.main.parameters:
        if item.module:
            key = own[item.key].name if item.key in own else item.key
            home = item.module if item.key in own else author.code.module.key
            parameters.append(replace(item, key=key_of(key), module=home))
        else:
            parameters.append(replace(item, key=next(dummies)))
    main = replace(unit.main, parameters=tuple(parameters))
    return replace(unit, functions=(*unit.functions[:-1], main))


def _known(author: CScope, key: str) -> bool:
    """Return whether a name is that of a variable of the author's module."""
    try:
        symbol = author.symbol(key)
    except PrintError:
        return False
    return symbol.sort is Sort.VARIABLE and not symbol.module


if __name__ == "__main__":
    sys.exit(main())
