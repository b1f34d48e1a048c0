"""How much of real kernels is understood: their statements, and what their bracketed names are.

    python benchmarks/resolution.py FOLDER...          totals for all kernels below the folders
    python benchmarks/resolution.py --names FOLDER...  and what could not be resolved

Kernels are the subroutines `*_code` of modules `*kernel_mod*`. Each is read and its names are
looked up in the modules below the folders. A bracketed name is a guess where nobody knows whether
it is an array or a function; names that come from modules that are not below the folders are
counted apart. Time is CPU time for reading and resolving, by the lines of the files.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.ir.expr import Expr, Index, Member, Name, Unresolved, spell, walk
from psyclone_storage.ir.rewrite import expressions_of, walk_lines
from psyclone_storage.ir.routine import UseStatement
from psyclone_storage.ir.unit import Line, Opaque, Use
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.linked_files import link_file
from psyclone_storage.languages.fortran.parse.procedures import subroutine_names
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder


@dataclass
class Totals:
    """What was counted so far."""

    kernels: int = 0
    whole: int = 0
    decided: int = 0
    names_decided: int = 0
    lacking: int = 0
    statements: int = 0
    opaque: int = 0
    lines: int = 0
    reading: float = 0.0
    resolving: float = 0.0
    guesses: Counter[str] = field(default_factory=Counter)
    texts: Counter[str] = field(default_factory=Counter)


class Body(NamedTuple):
    """Resolved statements, with the imports that are seen from there."""

    name: str
    lines: tuple[Line, ...]
    uses: tuple[Use, ...]


def main() -> None:
    """Print the totals of the kernels below the folders that are given."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--names", action="store_true", help="what could not be resolved")
    parser.add_argument(
        "--files", action="store_true", help="all units of all files, instead of kernels"
    )
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args()
    finder = ModuleFinder(index_directories(tuple(given.folders)))
    totals = Totals()
    count, names = (count_units, "*") if given.files else (count_file, "*kernel_mod*")
    for folder in given.folders:
        for path in sorted(filter(Path.is_file, folder.rglob(f"{names}.[fF]90"))):
            count(path, finder, totals)
    print_totals(totals)
    if given.names:
        for guess, times in totals.guesses.most_common(40):
            print(f"  {times:>6}  {guess}")
        for text, times in totals.texts.most_common(20):
            print(f"  {times:>6}  {text}")


def count_units(path: Path, finder: ModuleFinder, totals: Totals) -> None:
    """Add all program units of one file to `totals`, each by its own statements."""
    source = read_source(path)
    start = time.process_time()
    file = read_file(source)
    read = time.process_time()
    linked = link_file(file, finder)
    totals.reading += read - start
    totals.resolving += time.process_time() - read
    totals.lines += source.text.count("\n")
    uses = [
        item.use
        for unit in linked.every_unit()
        for item in unit.specification
        if isinstance(item, UseStatement)
    ]
    for unit in linked.every_unit():
        if unit.body:
            count_body(Body(unit.name, unit.body, tuple(uses)), finder, totals)


def count_file(path: Path, finder: ModuleFinder, totals: Totals) -> None:
    """Add the kernels of one file to `totals`."""
    source = read_source(path)
    for name in subroutine_names(source):
        if not name.lower().endswith("_code"):
            continue
        start = time.process_time()
        try:
            code = read_code(source, name)
        except CompileError:
            continue
        read = time.process_time()
        code = resolve_code(code, finder)
        totals.reading += read - start
        totals.resolving += time.process_time() - read
        totals.lines += source.text.count("\n")
        body = Body(code.name, code.body, (*code.uses, *code.module.uses))
        count_body(body, finder, totals)


def count_body(code: Body, finder: ModuleFinder, totals: Totals) -> None:
    """Add the statements of one procedure or program to `totals`."""
    lines = list(walk_lines(code.lines))
    opaque = [line for line in lines if isinstance(line, Opaque)]
    opaque = [line for line in opaque if not line.text.startswith("#")]
    totals.texts.update(line.text.split("\n")[0][:80] for line in opaque)
    guesses = [guess for line in lines for guess in guesses_in(line)]
    found = [guess for guess in guesses if may_be_found(guess, code, finder)]
    named = [guess for guess in found if isinstance(guess.base, Name)]
    totals.kernels += 1
    totals.statements += len(lines)
    totals.opaque += len(opaque)
    totals.whole += not opaque
    totals.decided += not found
    totals.names_decided += not named
    totals.lacking += len(found) < len(guesses)
    totals.guesses.update(f"{spell(guess.base)} in {code.name}" for guess in found)


def guesses_in(line: Line) -> list[Index]:
    """Return what has brackets in `line` itself of which nobody knows what it is."""
    return [
        part for expr in expressions_of(line) for part in walk(expr) if isinstance(part, Unresolved)
    ]


def may_be_found(guess: Index, code: Body, finder: ModuleFinder) -> bool:
    """Return whether the module that gives the name is there to be read."""
    base: Expr = guess
    while isinstance(base, Index | Member):
        base = base.base
    symbol = base.symbol if isinstance(base, Name) else None
    if symbol is None or symbol.is_resolved:
        return True
    given = [
        use.module
        for use in code.uses
        if use.whole or any(name.local.lower() == symbol.key for name in use.names)
    ]
    return not given or all(finder.module(module) is not None for module in given)


def print_totals(totals: Totals) -> None:
    """Print the counts as shares."""

    def share(part: int, whole: int) -> str:
        return f"{part} of {whole} ({100 * part / max(whole, 1):.1f} %)"

    print(f"kernels understood whole:            {share(totals.whole, totals.kernels)}")
    print(f"opaque statements:                   {share(totals.opaque, totals.statements)}")
    print(f"no bracketed name a guess:           {share(totals.names_decided, totals.kernels)}")
    print(f"nor a bracketed component:           {share(totals.decided, totals.kernels)}")
    print(f"a name of a module that is not here: {share(totals.lacking, totals.kernels)}")
    print(
        f"CPU time: reading {1e3 * totals.reading / totals.lines:.3f} ms a line,"
        f" resolving {1e3 * totals.resolving / totals.lines:.3f} ms a line"
    )


if __name__ == "__main__":
    main()
