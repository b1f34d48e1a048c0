"""Mutated kernels and algorithms: no internal error, and values equal to those of CPython.

    python tests/survey/mutations.py 20000 [--seed 1] [--first NUMBER] [--keep DIR]

The kernels are those of the survey, the algorithms those of `programs.txt`. Some words and lines of
a program are replaced, or the kernel has the lines of another kernel as well. A program that the
compiler accepts runs on targets C and NumPy, and sometimes CUDA. CPython interprets its invokes one
point after the other. If CPython raises an error at a point, or an integer has more than 32 bits,
values are not compared. Child processes run the programs, so that a crash is a result, too.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import json
import math
import os
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

TESTS = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:1] = [str(TESTS), str(TESTS / "support")]

from mutated_inputs import HangError, limited  # noqa: E402
from mutated_texts import WORDS, mutated  # noqa: E402
from psyclone_storage.base.diagnostic import CompileError, InternalError  # noqa: E402
from psyclone_storage.base.uncaught import PACKAGE, UserError  # noqa: E402
from survey.survey import (  # noqa: E402
    HEAD,
    OF_LIBRARIES,
    RATE,
    STEP,
    SUMS,
    SURVEY,
    TARGETS,
    is_near,
    loaded,
)

PROGRAMS = Path(__file__).with_name("programs.txt")
IMPORTS = HEAD.partition("{before}")[0]
POINTS, HALO = (5, 4), 3
LIMIT, CHUNK, MEMORY = 60.0, 500, 6 << 30
"""Seconds of one program, programs of one process, and bytes of its address space."""
WORDS_OF_KERNELS = [
    *WORDS,
    *"< > <= >= != += -= *= //= << >> & | ^ ~ in is break continue elif else pass -1 3 7".split(),
    *"GO_WRITE GO_READWRITE GO_CU GO_LAYERS GO_FLOAT32 GO_INT32 GO_I_SCALAR".split(),
]
EXPRESSIONS = [
    *"old[1,0] old[0,0] old[0,-1] old both[0,0] new[0,0] mask[0,0] rate step i j k n W".split(),
    *"0 1 -1 2 3 7 0.5 -0.0 1e30 2147483647 True None () (1,2) [0.5,rate] math.inf W[1]".split(),
    *"range(3) range(-1,2) range(step) np.zeros(3) np.zeros((2,2)) len(W) layers()".split(),
    *"math.floor(_) int(_) float(_) abs(_) math.sqrt(abs(_)) np.float32(_) np.int32(_)".split(),
    *"max(_,_) min(_,_) np.where(_>0,_,_) np.sum(_) np.max(_) len(_) bool(_) enumerate(_)".split(),
    *"_+_ _-_ _*_ _/_ _//_ _%_ _**2 _<<2 _>>1 _&_ _|_ _^_ ~_ -_ _@_ _[_] _[_,0] _[0,_]".split(),
    *("_ if _ else _", "not _", "_ and _", "_ or _", "_ < _", "_ == _", "_ in (1, 2)", "_ is None"),
]
STATEMENTS = [
    "break", "continue", "return", "pass", "new[0, 0] = _", "both[0, 0] += _", "n = _",
    "x, y = _, _",
    "if _:\n    n = _\nelse:\n    n = _", "for k in range(3):\n    both[0, 0] -= _", "n = x = _",
    "for k in _:\n    new[0, 0] = k", "n = 0\nwhile n < 3:\n    n += 1", "return _", "W[0] = _",
    "w = np.zeros(4)\nw[_] = _\nnew[0, 0] = w[_] + w[1]", "n += 1", "n: float = _",
]  # fmt: skip
"""Pieces of programs; another expression of the program replaces `_`."""
MAY_RAISE = (ArithmeticError, IndexError, ValueError, KeyError)
"""What CPython raises at a point where the value of a kernel is undefined."""
OF_DEFECTS = (AttributeError, KeyError, IndexError, AssertionError, RecursionError, SystemError,
              NotImplementedError, ArithmeticError, NameError, MemoryError,
              InternalError)  # fmt: skip
"""Errors of this package that no program may cause."""
OF_PYTHON = r"unsupported operand|object is not|'NoneType' object|object of type .* has no len"
OF_INDICES = r"used as indices|valid indices|out of bounds|too many indices"
"""Messages of Python about errors in this package, and of NumPy about indices of the program."""


class Result(NamedTuple):
    """A program by its number: what became of it, and its defect, if any."""

    number: int
    status: str
    defect: str = ""


class UndefinedError(ArithmeticError):
    """An integer has more bits than one of a kernel."""


# -- programs -------------------------------------------------------------------------------------


def programs() -> dict[str, str]:
    """Return the algorithms by name."""
    parts = re.split(r"(?m)^== ", PROGRAMS.read_text(encoding="utf-8"))[1:]
    return {name: IMPORTS + text for name, _, text in (part.partition("\n") for part in parts)}


def program_of(seed: int, number: int) -> str:
    """Return the mutated program with a number."""
    rng = random.Random(f"{seed} {number}")
    if rng.random() < 0.3:
        text = rng.choice(list(programs().values()))
        first = text.index("@kernel")
    else:
        text = rng.choice(list(SURVEY.values())).text
        if rng.random() < 0.3:
            text = _joined(text, rng.choice(list(SURVEY.values())).text)
        first = text.index("):\n", text.index("def work")) + 3
    if rng.random() < 0.8:
        return _with_other_nodes(rng, text)
    last = text.index("def run") if rng.random() < 0.7 else len(text)
    first = 0 if rng.random() < 0.1 else first
    for _ in range(40):
        changed = mutated(rng, text[first:last], WORDS_OF_KERNELS)
        if _parses(text[:first] + changed + text[last:]):
            break
    return text[:first] + changed + text[last:]


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def _joined(first: str, second: str) -> str:
    """Return the first kernel with the lines and the definitions of the second before its own."""
    before = second[second.index("\n\n", len(IMPORTS) - 2) : second.index("@kernel")]
    start = second.index("):\n", second.index("def work")) + 3
    lines = second[start : second.index("\n\ndef run")]
    at = first.index("):\n", first.index("def work")) + 3
    return first[: len(IMPORTS)] + before + first[len(IMPORTS) : at] + lines + first[at:]


def _with_other_nodes(rng: random.Random, text: str) -> str:
    """Return a program with one to three expressions or statements replaced."""
    tree = ast.parse(text)
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    for _ in range(rng.choice([1, 1, 2, 3])):
        of_kernels = [one for one in functions if one.name != "run" or rng.random() < 0.2]
        function = rng.choice(of_kernels or functions)
        if rng.random() < 0.3:
            _change_statements(rng, function)
        else:
            _change_expression(rng, function)
    return ast.unparse(ast.fix_missing_locations(tree))


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int]]:
    """Yield the places of expressions whose values are used below a node."""
    for parent in ast.walk(node):
        for name, value in ast.iter_fields(parent):
            for at, one in enumerate(value if isinstance(value, list) else [value]):
                if isinstance(one, ast.expr) and not isinstance(
                    getattr(one, "ctx", None), ast.Store
                ):
                    yield parent, name, at


def _at(place: tuple[ast.AST, str, int]) -> Any:
    found = getattr(place[0], place[1])
    return found[place[2]] if isinstance(found, list) else found


def _change_expression(rng: random.Random, function: ast.FunctionDef) -> None:
    places = [one for part in function.body for one in _places(part)]
    places += list(_places(function.args)) if rng.random() < 0.1 else []
    if not places:
        return
    parent, name, at = place = rng.choice(places)
    old = _at(place)
    if isinstance(old, ast.Constant) and isinstance(old.value, int | float) and rng.random() < 0.5:
        made: ast.expr = ast.Constant(rng.choice([old.value + 1, -old.value, 0, 2.5, 1]))
    elif isinstance(old, ast.BinOp) and rng.random() < 0.5:
        made = ast.BinOp(old.left, rng.choice(OPERATORS)(), old.right)
    else:
        made = _filled(rng, rng.choice([*EXPRESSIONS, "_", "_"]), function).body[0].value
    if isinstance(getattr(parent, name), list):
        getattr(parent, name)[at] = made
    else:
        setattr(parent, name, made)


OPERATORS = [ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift,
             ast.RShift, ast.BitAnd, ast.BitOr, ast.BitXor, ast.MatMult]  # fmt: skip


def _filled(rng: random.Random, text: str, function: ast.FunctionDef) -> Any:
    """Return a piece of a program in which expressions of a function replace `_`."""
    found = [_at(one) for part in function.body for one in _places(part)]
    known = [ast.unparse(one) for one in found if not _is_section(one)] or ["0"]
    return ast.parse(re.sub(r"\b_\b", lambda _: f"({rng.choice(known)})", text))


def _is_section(node: ast.expr) -> bool:
    """Return whether an expression may stand only between brackets."""
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(isinstance(one, ast.Slice) for one in parts)


def _change_statements(rng: random.Random, function: ast.FunctionDef) -> None:
    bodies = [
        found
        for node in ast.walk(function)
        for name in ("body", "orelse")
        if isinstance(found := getattr(node, name, None), list) and found
    ]
    body, other = rng.choice(bodies), rng.choice(bodies)
    at = rng.randrange(len(body))
    match rng.randrange(4):
        case 0:
            body[at : at + 1] = [] if len(body) > 1 else [ast.Pass()]
        case 1:
            other.insert(rng.randrange(len(other) + 1), ast.parse(ast.unparse(body[at])).body[0])
        case 2:
            target = rng.randrange(len(body))
            body[at], body[target] = body[target], body[at]
        case _:
            body[at:at] = _filled(rng, rng.choice(STATEMENTS), function).body


# -- CPython --------------------------------------------------------------------------------------


def checked(value: Any) -> Any:
    """Return a value that a kernel can have as well.

    Raises:
        UndefinedError: it is an integer of more than 32 bits, or a complex number.
    """
    is_integer = isinstance(value, (int, np.integer))
    if (is_integer and not -(2**31) <= value < 2**31) or isinstance(value, complex):
        raise UndefinedError
    return value


def undefined(number: float) -> Callable[..., Any]:
    """Return what replaces `np.empty`: it gives all elements a number."""
    return lambda *args, **named: np.full_like(np.empty(*args, **named), number)


class _Checks(ast.NodeTransformer):
    """Adds checks of the values of operations and calls in functions."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name != "run":
            node.body = [self.visit(one) for one in node.body]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        return self.generic_visit(node)

    def _checked(self, node: ast.expr) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.empty":
            node.func = ast.copy_location(ast.Name("undefined", ast.Load()), node.func)
        name = ast.Name("checked", ast.Load())
        return ast.copy_location(ast.Call(name, [node], []), node)

    visit_BinOp = _checked  # noqa: N815 - as `ast` names them
    visit_UnaryOp = _checked  # noqa: N815
    visit_Call = _checked  # noqa: N815


def with_checks(text: str) -> str:
    """Return a program whose kernels check their integers."""
    tree = ast.parse(text)
    tree.body = [
        _Checks().visit(one) if isinstance(one, ast.FunctionDef) else one for one in tree.body
    ]
    return ast.unparse(ast.fix_missing_locations(tree))


def interpret(
    *calls: Any,
    name: str = "",  # noqa: ARG001 - as `invoke`
    has_single: bool = False,
) -> None:
    """Execute an invoke by calling its kernels for one point after the other.

    Reals of fields are numbers of NumPy if the program has some of 32 bits, else those of Python.
    """
    for call in calls:
        reduce = REDUCTIONS.get(call.kernel.name)
        if reduce is not None:
            result, *fields = call.args
            result.value = reduce(*[np.asarray(one.values, float).ravel() for one in fields])
        else:
            _interpret(call, has_single)


REDUCTIONS: dict[str, Callable[..., float]] = {
    "sum_X": math.fsum,
    "minval_X": lambda x: float(np.min(x)),
    "maxval_X": lambda x: float(np.max(x)),
    "X_innerproduct_X": lambda x: math.fsum(x * x),
    "X_innerproduct_Y": lambda x, y: math.fsum(x * y),
}


def _interpret(call: Any, has_single: bool) -> None:
    from psyclone_storage.runtime.gocean import Field  # noqa: PLC0415

    args = iter(call.args)
    said = call.kernel._annotations()
    arrays: dict[str, Any] = {}
    given: dict[str, Any] = {}
    owners: dict[str, Any] = {}
    properties = []
    for name, one in said.items():
        if one.name == "grid_property":
            properties.append((name, one))
            continue
        value = next(args)
        if isinstance(value, Field):
            owners[name] = value
            shared = next(
                (arrays[n] for n, o in owners.items() if o is value and n in arrays), None
            )
            arrays[name] = value.values.copy() if shared is None else shared
        else:
            given[name] = float(value) if hasattr(value, "value") else value
    grid = next(iter(owners.values())).grid
    for name, one in properties:
        word = one.items[0].name
        given[name] = 1.0 if "CONST" in word else None
        arrays |= {} if "CONST" in word else {name: mask_values()}
    written = [name for name in owners if "WRITE" in said[name].items[0].name]
    for j in range(grid.points[1]):
        for i in range(grid.points[0]):
            here = {name: _around(array, i, j, has_single) for name, array in arrays.items()}
            found = call.kernel.at(**given | here)
            for name in written:
                arrays[name][i, j] = found if len(written) == 1 else found[name]
    for name in written:
        owners[name][...] = arrays[name]


def _around(array: Any, i: int, j: int, has_single: bool) -> Any:
    """Return the function of offsets from a point in a periodic domain."""

    def value(x: int, y: int) -> Any:
        found = array[(i + x) % POINTS[0], (j + y) % POINTS[1]]
        is_plain = found.ndim == 0 and found.dtype == np.float64 and not has_single
        return found.item() if is_plain else found

    return value


def given_values() -> tuple[Any, Any]:
    """Return the values of the fields: few distinct ones, so that ties and zeros occur."""
    rng = np.random.default_rng(7)
    return rng.choice([-2.5, -1.0, 0.0, 0.3, 1.0, 3.7], POINTS), rng.normal(size=POINTS)


def mask_values() -> Any:
    """Return the mask of the grid."""
    return np.random.default_rng(8).integers(0, 3, POINTS)


# -- comparison -----------------------------------------------------------------------------------


def computed(module: ModuleType, target: str) -> tuple[Any, ...]:
    """Return what a program computes on a target."""
    from psyclone_storage.gocean import configure  # noqa: PLC0415
    from psyclone_storage.runtime.gocean import Grid  # noqa: PLC0415

    device = "gpu" if target == "cuda" else None
    grid = Grid(
        POINTS, (1.0, 1.0), periodic=(True, True), halo=HALO, mask=mask_values(), device=device
    )
    configure(target=target)
    try:
        found = module.run(grid, given_values(), RATE, STEP)
    finally:
        configure()
    return tuple(np.asarray(one) for one in found)


def outcome_of(text: str, name: str, folder: Path, targets: tuple[str, ...]) -> tuple[str, str]:
    """Return what became of a program, and its defect or nothing."""
    kernel = _Text(name, text)
    results = []
    for target in targets:
        try:
            results.append(computed(loaded(kernel, folder), target))
        except CompileError as error:
            bad = [one for one in error.problems if one.span is None and not one.file]
            if bad or any(one.code.startswith("I") for one in error.problems):
                return "refused", f"{error.problems[0].code} {error.problems[0].message}"
            if results:
                # NumPy computes kernels of fewer forms; CUDA needs extents of local arrays.
                codes = {one.code for one in error.problems}
                is_known = target == "numpy" and codes <= {"G010"}
                is_known |= target == "cuda" and "the length of" in error.problems[0].message
                return "refused", "" if is_known else (
                    f"only {target} refuses: {error.problems[0].code} {error.problems[0].message}"
                )
            return "refused", ""
        except Exception as error:  # noqa: BLE001
            return _class_of(error, folder)
    try:
        with np.errstate(all="ignore"):
            wanted = by_python(kernel, folder)
    except MAY_RAISE:
        return "no value", ""
    except Exception as error:  # noqa: BLE001
        return "accepted", f"CPython raises {type(error).__name__}: {_general(str(error))}"
    functions = OF_LIBRARIES.findall(text)
    adds_functions = len(functions) > 1 or (functions and re.search(r"\bfor\b", text))
    is_sum = SUMS.search(text) or "sum_X" in text or "inner" in text
    units = 4 if is_sum or adds_functions else 1
    for target, found in zip(targets, results, strict=True):
        for one, other in zip(wanted, found, strict=True):
            if one.dtype.kind == "f" or other.dtype.kind == "f":
                # The values of functions may cancel each other.
                same = is_near(one, other, units, 1.0 if adds_functions else 0.0)
            else:
                same = bool(np.array_equal(one, other))
            if not same:
                return "accepted", f"{target} differs"
    return "equal", ""


class _Text(NamedTuple):
    """A program as `loaded` takes it."""

    name: str
    text: str


def by_python(kernel: _Text, folder: Path) -> tuple[Any, ...]:
    """Return what CPython computes.

    Raises:
        UndefinedError: it depends on elements of an array that have no value.
    """
    vars(builtins).update(checked=checked, undefined=undefined(3.0))
    module = loaded(_Text(f"{kernel.name}_checked", with_checks(kernel.text)), folder)
    has_single = "float32" in kernel.text.lower()
    vars(module).update(invoke=partial(interpret, has_single=has_single))
    found = computed(module, "numpy")
    if "np.empty" in kernel.text:
        vars(builtins).update(undefined=undefined(5.0))
        again = computed(module, "numpy")
        if not all(np.array_equal(*one, equal_nan=True) for one in zip(found, again, strict=True)):
            raise UndefinedError
    if any(one.dtype.kind not in "biuf" for one in found):
        raise ValueError("The program returns other objects.")
    return found


def _class_of(error: Exception, folder: Path) -> tuple[str, str]:
    """Return what an error at run time means: one of Python, of the user, or a defect."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if one.filename.startswith(PACKAGE)]
    if not own or str(folder) in frames[-1].filename or isinstance(error, UserError):
        return "Python refuses", ""
    if re.search(OF_INDICES, str(error)):
        return "raises", ""
    if isinstance(error, ArithmeticError) and frames[-1].filename.startswith("<"):
        return "no value", ""  # of scalars, with which NumPy code computes as Python does
    if isinstance(error, OF_DEFECTS) or re.search(OF_PYTHON, str(error)):
        place = f"{Path(own[-1].filename).name}:{own[-1].lineno}"
        return "raises", f"{type(error).__name__} at {place}: {_general(str(error))}"
    return "raises", ""


def _general(message: str) -> str:
    return re.sub(r"'[^']*'|\d+", "_", message)


# -- campaign -------------------------------------------------------------------------------------


def run_one(seed: int, number: int, folder: Path) -> Result:
    """Run the program with a number."""
    targets = TARGETS if number % 10 == 0 else ("c", "numpy")
    try:
        with warnings.catch_warnings(), limited(LIMIT):
            warnings.simplefilter("ignore")
            text = program_of(seed, number)
            status, defect = outcome_of(text, f"mutated_{number}", folder, targets)
    except HangError:
        status, defect = "hang", "hang"
    finally:
        for file in folder.glob("mutated_*"):
            file.unlink()
    return Result(number, status, defect)


def results(seed: int, first: int, last: int) -> Iterator[Result]:
    """Run programs in child processes, and yield their results."""
    number = first
    while number < last:
        until = min(number + CHUNK, last)
        words = [sys.executable, "-W", "ignore", __file__, str(until - number), "--here"]
        words += ["--seed", str(seed), "--first", str(number)]
        with subprocess.Popen(words, stdout=subprocess.PIPE, env=_variables()) as child:
            assert child.stdout
            for line in child.stdout:
                if line.startswith(b"["):
                    result = Result(*json.loads(line))
                    number = result.number + 1
                    yield result
        if number < until:
            yield Result(number, "crash", f"crash with status {child.returncode}")
            number += 1


def _variables() -> dict[str, str]:
    settings = {"PSYCLONE_STORAGE_DEVICE": "emulated", "PSYCLONE_STORAGE_CFLAGS": "-O0"}
    return os.environ | settings | {"PSYCLONE_STORAGE_CACHE": ""}


def _run_here(seed: int, first: int, count: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    fast = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="mutated-", dir=fast) as scratch:
        os.environ["PSYCLONE_STORAGE_LIBRARIES"] = f"{scratch}/libraries"
        for number in range(first, first + count):
            _say(json.dumps(run_one(seed, number, Path(scratch))))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Run the campaign; return 1 if a program shows a defect."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=1, help="number of programs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write programs with defects here")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        _run_here(given.seed, given.first, given.count)
        return 0
    begin = time.monotonic()
    counts, defects = Counter[str](), Counter[str]()
    for result in results(given.seed, given.first, given.first + given.count):
        counts[result.status] += 1
        if result.defect:
            defects[result.defect] += 1
            if defects[result.defect] <= 3:
                _say(f"{result.number}: {result.defect}")
            if given.keep:
                given.keep.mkdir(parents=True, exist_ok=True)
                file = given.keep / f"{result.number}.py"
                file.write_text(program_of(given.seed, result.number), "utf-8", "surrogatepass")
    table = ", ".join(f"{count} {status}" for status, count in counts.most_common())
    _say(f"{counts.total()} programs in {time.monotonic() - begin:.0f} s: {table}")
    _say(f"{len(defects)} classes of defects in {defects.total()} programs")
    for defect, count in defects.most_common():
        _say(f"{count:>6} {defect}")
    return bool(defects)


if __name__ == "__main__":
    sys.exit(main())
