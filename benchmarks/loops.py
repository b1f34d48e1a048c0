"""Which loops of Fortran files are parallel, and what it costs to know: this tool and PSyclone.

    python benchmarks/loops.py FILE ...                     CPU time and verdicts per routine
    python benchmarks/loops.py FILE ... --modules DIR ...   with the types that modules there define
    python benchmarks/loops.py FILE ... --reasons           and the reasons of refusals, counted
    python benchmarks/loops.py FILE ... --psyclone          the same outermost loops by both tools

Files are module files; those in upper case (`.F90`) go through `cpp -traditional-cpp` first, with
the macros of `-D`. Outermost loops of module subroutines are asked about; for `--psyclone` a loop
is the same if it starts on the same line. PSyclone's answer is that of `DependencyTools`.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from psyclone_storage.analysis.bodies.flow import Flow, FlowNode, flow_of
from psyclone_storage.analysis.bodies.independence import Independence, independence_of
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.rewrite import place_of_line
from psyclone_storage.ir.routine import Routine, Structure
from psyclone_storage.ir.unit import Do
from psyclone_storage.languages.fortran.parse.body import read_code
from psyclone_storage.languages.fortran.parse.exports import structures_in
from psyclone_storage.languages.fortran.parse.procedures import subroutine_names
from psyclone_storage.languages.fortran.parse.resolve import resolve_code
from psyclone_storage.languages.fortran.parse.scope_reader import read_scopes
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder

SUFFIXES = (".f90", ".F90")
_NO_MODULES = ModuleFinder(index_directories(()))
_QUOTED = re.compile(r"'[^']*'")


@dataclass(frozen=True)
class Asked:
    """One outermost loop: its first line, and what is known about it."""

    line: int
    found: Independence


def main() -> None:
    """Print what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--modules", nargs="*", type=Path, default=[], metavar="DIR")
    parser.add_argument("-D", action="append", default=[], dest="macros", metavar="NAME")
    parser.add_argument("--reasons", action="store_true")
    parser.add_argument("--psyclone", action="store_true")
    given = parser.parse_args()
    offers = Offers([*module_files(given.modules), *given.files], given.macros)
    total: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    print(f"{'routine':45} {'read s':>7} {'asked s':>7} {'loops':>6} {'yes':>5} {'no':>5}")
    for path in given.files:
        text = preprocessed(path, given.macros)
        theirs = psyclone_verdicts(text) if given.psyclone else {}
        for name in sorted(subroutine_names(SourceText(str(path), text))):
            for item in report(SourceText(str(path), text), name, offers):
                verdict = "no" if item.found.reasons else "yes"
                total[verdict] += 1
                for reason in item.found.reasons[:1]:
                    reasons[f"{reason.code} {_QUOTED.sub('...', reason.message)}"] += 1
                if item.line in theirs:
                    total[f"{verdict}, PSyclone {theirs[item.line]}"] += 1
                elif given.psyclone:
                    total[f"{verdict}, PSyclone sees no loop"] += 1
    print_counts("verdicts", total)
    if given.reasons:
        print_counts("first reasons", reasons)


def print_counts(title: str, counts: Counter[str]) -> None:
    """Print how often each thing was counted, the most frequent first."""
    print(f"\n{title}")
    for name, count in counts.most_common():
        print(f"{count:6}  {name}")


def report(source: SourceText, name: str, offers: Offers) -> list[Asked]:
    """Return the verdicts for one subroutine, after printing a line about it."""
    start = time.process_time()
    try:
        code = resolve_code(offers.known(read_code(source, name)), _NO_MODULES)
    except CompileError:
        return []
    read = time.process_time()
    flow = flow_of(code)
    found = [Asked(_line(node), independence_of(node, flow)) for node in outermost(flow)]
    asked = time.process_time()
    yes = sum(1 for item in found if not item.found.reasons)
    print(
        f"{name:45} {read - start:7.2f} {asked - read:7.2f} {len(found):6} {yes:5}"
        f" {len(found) - yes:5}"
    )
    return found


def outermost(flow: Flow) -> Iterator[FlowNode]:
    """Yield the counted loops that are in no other one."""
    for node in flow.loops:
        if not any(isinstance(flow.node(number).line, Do) for number in node.around):
            yield node


def _line(node: FlowNode) -> int:
    place = place_of_line(node.line)
    return place.line if place is not None else 0


# ---------------------------------------------------------------------------- files


def preprocessed(path: Path, macros: Iterable[str]) -> str:
    """Return the text of a file, without the preprocessor's lines where it has to be run."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix != ".F90":
        return text
    words = ["cpp", "-traditional-cpp", "-P", *(f"-D{macro}" for macro in macros), str(path)]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout or text


def module_files(folders: Iterable[Path]) -> Iterator[Path]:
    """Yield the Fortran files below `folders`."""
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES)


class Offers:
    """The derived types of many modules, by module."""

    def __init__(self, paths: Iterable[Path], macros: Iterable[str]) -> None:
        self._types: dict[str, tuple[Structure, ...]] = {}
        for path in paths:
            file = read_scopes(SourceText(str(path), preprocessed(path, macros)))
            for scope in file.modules:
                self._types[scope.key] = tuple(structures_in(scope))

    def known(self, code: Routine) -> Routine:
        """Return `code` with what it imports of the modules that were read."""
        types = {(item.module, item.name): item for own in self._types.values() for item in own}
        for use in (*code.uses, *code.module.uses):
            home = use.module.lower()
            names = {one.local.lower(): one.original.lower() for one in use.names}
            if use.whole:
                offered = {item.name for item in self._types.get(home, ())}
                names |= {name: name for name in offered}
            for local, original in names.items():
                if (home, original) in types:
                    types["", local] = replace(types[home, original], name=local, module="")
        own = {(item.module, item.name): item for item in code.module.structures}
        module = replace(code.module, structures=tuple((types | own).values()))
        return replace(code, module=module)


# ---------------------------------------------------------------------------- the other tool


def psyclone_verdicts(text: str) -> dict[int, str]:
    """Return what PSyclone says of the outermost loops of a file, by their lines."""
    from psyclone.psyir.frontend.fortran import FortranReader  # noqa: PLC0415
    from psyclone.psyir.nodes import Loop  # noqa: PLC0415
    from psyclone.psyir.tools import DependencyTools  # noqa: PLC0415

    start = time.process_time()
    try:
        tree = FortranReader().psyir_from_source(text)
    except Exception as error:  # noqa: BLE001
        print(f"PSyclone cannot read it: {str(error).splitlines()[0][:80]}")
        return {}
    found: dict[int, str] = {}
    tools = DependencyTools()
    for loop in tree.walk(Loop, stop_type=Loop):
        try:
            verdict = "yes" if tools.can_loop_be_parallelised(loop) else "no"
        except Exception as error:  # noqa: BLE001
            verdict = f"fails: {type(error).__name__}"
        item = getattr(getattr(loop, "_ast", None), "content", [None])[0]
        if getattr(item, "item", None) is not None:
            found[item.item.span[0]] = verdict
    print(f"PSyclone: {len(found)} loops, {time.process_time() - start:.1f} s")
    return found


if __name__ == "__main__":
    main()
