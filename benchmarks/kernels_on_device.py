"""How many of LFRic's kernels can run on a device, and whether a compiler takes those that can.

    python benchmarks/kernels_on_device.py path/to/lfric_core path/to/lfric_apps [--compile]
    python benchmarks/kernels_on_device.py CORE APPS --called-by CORE/components APPS/science/gungho

All kernels with metadata in and below the folders are judged as `psyclone-storage-kern -device`
does, or those alone that algorithms in some folders call. Modules of namelists, which LFRic's build
writes, are made here from the descriptions in `rose-meta`. With `--compile` each kernel that can
run there is printed as it would, with
`acc routine` and what is passed to it, and compiled with `gfortran -fopenacc`, with the modules
that it uses: our infrastructure's, and those of the folders. A kernel whose modules do not compile,
because other libraries are not there, is counted apart. The exit status is 1 if the compiler
refuses a kernel whose modules it has.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.source import SourceText
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.config.settings import Api
from psyclone_storage.languages.fortran.parse.algorithm import read_algorithm
from psyclone_storage.languages.sources.kernel_search import SourceIndex, index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder
from psyclone_storage.languages.sources.module_names import defined_modules, used_modules
from psyclone_storage.targets.apis import target_of
from psyclone_storage.tools.device_modules import DeviceModules, Needs
from psyclone_storage.tools.offload_check import KernelOnDevice, judge_kernels

ROOT = Path(__file__).resolve().parents[1]
LIBRARY = ROOT / "external" / "lfric_infrastructure"
STORAGE = ROOT / "external" / "storage"
SERIAL = (LIBRARY / "distribution" / "serial", LIBRARY / "precision" / "uniform")
FLAGS = ("-fopenacc", "-cpp", "-ffree-line-length-none")
KINDS = {"integer": "i_def", "real": "r_def", "logical": "l_def", "character": "str_def"}
SECTION = re.compile(r"\[!?namelist:(\w+)(?:\{\w+\})?=(\w+)\]")
CONTINUED = re.compile(r"\n[ \t]+=?")
FIELD = re.compile(r"(!?[\w-]+)=(.*)")
OF_COMPILER = frozenset({"iso_c_binding", "iso_fortran_env", "ieee_arithmetic", "openacc"})


def main() -> int:
    """Judge, compile, print; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--compile", action="store_true", help="compile what can run there")
    parser.add_argument("--called-by", nargs="+", type=Path, metavar="FOLDER", default=[],
                        help="judge what algorithms in and below these folders call")  # fmt: skip
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        namelists = folder / "namelists"
        namelists.mkdir()
        for module, text in namelist_modules(given.trees):
            (namelists / f"{module}.f90").write_text(text, encoding="utf-8")
        index = index_directories((*given.trees, namelists))
        modules = DeviceModules(ModuleFinder(index))
        found = list(judged(given.trees, modules))
        if given.called_by:
            wanted = called_by(given.called_by)
            found = list({kernel.name.lower(): kernel for kernel in found
                          if kernel.name.lower() in wanted}.values())  # fmt: skip
            print(f"{len(wanted)} kernels are called, {len(found)} of them are in the trees")
        there = [kernel for kernel in found if kernel.runs_there]
        print(f"{len(there)} of {len(found)} kernels can run on a device")
        for steps, count in Counter(kernel.steps for kernel in there).most_common():
            print(f"{count:>6} by {'; '.join(steps)}")
        print(f"{sum(bool(one.sized_at_run_time) for one in there):>6} need memory in each call")
        needs = reduce(Needs.with_all, (kernel.needs for kernel in there), Needs())
        print(f"{sum(bool(one.needs.modules) for one in there):>6} with modules for devices,"
              f" of which there are {len(needs.modules)}")  # fmt: skip
        print_reasons([kernel for kernel in found if not kernel.runs_there])
        if not given.compile:
            return 0
        compiler = Compiler(folder / "modules", index)
        for path, text in modules.texts(needs):
            compiler.replace(path, text)
        return compiled(there, compiler)


def called_by(folders: list[Path]) -> set[str]:
    """Return the kernel types that algorithms in and below the folders call, not built-ins."""
    files = [path for folder in folders for path in sorted(folder.rglob("*.[xX]90"))]
    algorithms = [read_algorithm(SourceText(str(path), path.read_text("utf-8"))) for path in files]
    called = {
        call.name.lower()
        for algorithm in algorithms
        for invoke in algorithm.invokes
        for call in invoke.calls
    }
    return {name for name in called if name.endswith("_type")}


def judged(trees: list[Path], modules: DeviceModules) -> Iterator[KernelOnDevice]:
    """Yield all kernels of the trees."""
    settings = load_settings("", "", search_context({}))
    for path in (path for tree in trees for path in sorted(tree.rglob("*.[fFxX]90"))):
        if b"kernel_type" not in path.read_bytes().lower():
            continue
        try:
            yield from judge_kernels(path, None, Api.LFRIC, settings, modules)
        except CompileError as error:
            print(f"{path}: {error}")


def print_reasons(left: list[KernelOnDevice]) -> None:
    """Print how many kernels have each kind of reason, and how many that one alone."""
    kinds: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for kernel in left:
        texts = {re.sub(r"'[^']*'", "...", reason.message) for reason in kernel.reasons}
        kinds.update(texts)
        alone.update(texts if len(texts) == 1 else ())
    for text, count in kinds.most_common():
        print(f"{count:>6} stay on the host, {alone[text]} for this alone: {text}")


# ---------------------------------------------------------------------------- namelists


def namelist_modules(
    trees: list[Path], values: Mapping[str, Mapping[str, object]] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the modules of namelists: their names, and texts as LFRic's build would write them.

    `values` has what members of namelists start with; no file is read when the program runs.
    """
    namelists: dict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for tree in trees:
        for path in sorted(tree.rglob("HEAD/rose-meta.conf")):
            text = path.read_text(encoding="utf-8", errors="replace")
            entry: dict[str, str] | None = None
            for line in CONTINUED.sub(" ", text).splitlines():
                if found := SECTION.match(line):
                    entry = namelists[found[1].lower()].setdefault(found[2].lower(), {})
                elif line.startswith("["):
                    entry = None
                elif entry is not None and (found := FIELD.match(line)):
                    known = entry.setdefault(found[1], found[2])
                    if found[1] == "values":  # An application has its own choices.
                        entry[found[1]] = f"{known},{found[2]}"
    for name, members in namelists.items():
        given = (values or {}).get(name, {})
        lines = [
            line
            for member, entry in members.items()
            for line in declared(member, entry, given.get(member))
        ]
        head = f"module {name}_config_mod\n use constants_mod, only: {', '.join(KINDS.values())}\n"
        body = "\n".join(lines)
        yield f"{name}_config_mod", f"{head} implicit none\n{body}\nend module\n"


def declared(member: str, entry: dict[str, str], value: object) -> Iterator[str]:
    """Yield the declarations of one member of a namelist, with the words of an enumeration."""
    is_choice = entry.get("!enumeration") == "true"
    words = re.findall(r"'([^']*)'", entry.get("values", "")) if is_choice else []
    for number, word in enumerate(dict.fromkeys(words), 1):
        spelt = re.sub(r"\W", "_", word.lower())
        yield f" integer(i_def), parameter :: {member}_{spelt} = {number}"
    kind = "integer" if is_choice else entry.get("type", "").partition(",")[0]
    length = entry.get("length", "1")
    shape = "" if length == "1" else f", dimension({length})"
    if length == ":":
        shape = ", allocatable, dimension(:)"
    if kind in KINDS:
        start = "" if value is None else f" = {value}"
        start += "_r_def" if isinstance(value, float) else ""
        yield f" {kind}({KINDS[kind]}){shape}, protected :: {member}{start}"


# ---------------------------------------------------------------------------- compiling


class Compiler:
    """Modules, compiled once each for what they offer; those that do not compile are known."""

    def __init__(self, folder: Path, index: SourceIndex) -> None:
        folder.mkdir()
        self._folder = folder
        self._index = index
        self._files: dict[str, Path] = {}
        for place in (STORAGE, LIBRARY, *SERIAL):
            found = index_directories((place,))
            self._files |= {name: found.candidates(name)[0] for name in found.files}
        self._ours = tuple(self._files)
        self._compiled: dict[str, bool] = {}
        self._included = [path for tree in index.directories for path in tree.rglob("include")]

    def replace(self, path: Path, text: str) -> None:
        """Take `text` for the modules of the file at `path`, and generate code for it, too.

        Our infrastructure is compiled before, with modules of its own by these names.
        """
        for name in self._ours:
            self._has(name)
        for name in defined_modules(text):
            self._compiled.pop(name, None)
        self._included.append(path.parent)
        place = self._folder / path.name
        place.write_text(text, encoding="utf-8")
        self._files |= dict.fromkeys(defined_modules(text), place)

    def has_modules(self, text: str) -> bool:
        """Return whether all modules that a source uses are there, compiled now if need be."""
        return all(self._has(name) for name in used_modules(text))

    def refuses(self, text: str) -> str:
        """Return what the compiler has against a source, nothing if it takes it."""
        source = self._folder / "kernel.F90"
        source.write_text(text, encoding="utf-8")
        return self._run(source, "-c", "-o", "/dev/null")

    def _has(self, name: str) -> bool:
        if name in OF_COMPILER:
            return True
        if name not in self._compiled:
            self._compiled[name] = False
            path = self._files.get(name) or next(iter(self._index.candidates(name)), None)
            if path is not None:
                text = path.read_text(encoding="utf-8", errors="replace")
                said = "modules" if not self.has_modules(text) else self._module(path)
                self._compiled[name] = not said
        return self._compiled[name]

    def _module(self, path: Path) -> str:
        """Return what the compiler has against a module; of those for devices it must like all."""
        if path.parent != self._folder:
            return self._run(path, "-fsyntax-only")
        if said := self._run(path, "-c", "-o", "/dev/null"):
            print(f"{path.name}: {said}")
        return said

    def _run(self, source: Path, *task: str) -> str:
        included = (f"-I{path}" for path in self._included)
        words = [
            "gfortran",
            *FLAGS,
            *task,
            *included,
            f"-J{self._folder}",
            f"-I{self._folder}",
            str(source),
        ]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.stderr if done.returncode else ""


def compiled(there: list[KernelOnDevice], compiler: Compiler) -> int:
    """Compile each kernel, print the counts and what is refused; return the exit status."""
    language = target_of(Api.LFRIC).language
    counts: Counter[str] = Counter()
    for kernel in there:
        text = kernel.text(language)
        if not compiler.has_modules(text):
            counts["lack modules that compile here"] += 1
        elif said := compiler.refuses(text):
            counts["are refused by the compiler"] += 1
            first = next((line for line in said.splitlines() if "Error" in line), "")
            print(f"{kernel.path}: {kernel.name}: {first}")
        else:
            counts["compile with -fopenacc"] += 1
    for what, count in counts.most_common():
        print(f"{count:>6} {what}")
    return 1 if counts["are refused by the compiler"] else 0


if __name__ == "__main__":
    sys.exit(main())
