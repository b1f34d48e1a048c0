"""The parts of the reference that are generated from the tables of the compiler.

`parts` returns each part by the name with which a page includes it. This module contains no facts
of its own: it prints the tables of the compiler.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import re
import runpy
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, fields
from enum import Enum, StrEnum
from pathlib import Path

from psyclone_storage import scripting
from psyclone_storage.base.codes import CODES
from psyclone_storage.cli.kern_options import _build_parser as build_kernel_parser
from psyclone_storage.cli.options import _build_parser as build_parser
from psyclone_storage.domains.lfric import metadata_words as words
from psyclone_storage.domains.lfric.builtins import builtin, builtin_names
from psyclone_storage.domains.lfric.metadata_access import FIELD_ACCESSES, OTHER_ACCESSES
from psyclone_storage.infrastructures.lfric import (
    MESH_PROPERTIES,
    OBJECT_TYPES,
    QUADRATURE_TYPES,
    READ_ONLY_SPACES,
    REFERENCE_ELEMENT_PROPERTIES,
    SPACES,
    ProxiedType,
)
from psyclone_storage.ir.expr import spell
from psyclone_storage.ir.kernel import Access, Kernel
from psyclone_storage.lowering.routine_builder import SetupSection
from psyclone_storage.scripting.psyclone_names import _NODES, _OLD_NODES
from psyclone_storage.scripting.psyir.vocabulary import NODES as NODES_OF_FILES
from psyclone_storage.scripting.psyir.vocabulary import SYMBOLS as SYMBOLS_OF_FILES
from psyclone_storage.scripting.transformations.base import Transformation, Unsupported
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from psyclone_storage.scripting.views import ScheduleNode
from psyclone_storage.targets.lfric_fortran import abi
from psyclone_storage.transform.catalogue import RECIPES, STEPS
from psyclone_storage.transform.step import CheckedStep

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests"
PACKAGE = ROOT / "src" / "psyclone_storage"

BUILTINS_OF_2019 = frozenset(
    """
    X_plus_Y inc_X_plus_Y aX_plus_Y inc_aX_plus_Y inc_X_plus_bY aX_plus_bY inc_aX_plus_bY
    X_minus_Y inc_X_minus_Y aX_minus_Y X_minus_bY inc_X_minus_bY X_times_Y inc_X_times_Y
    inc_aX_times_Y a_times_X inc_a_times_X X_divideby_Y inc_X_divideby_Y inc_X_powreal_a
    inc_X_powint_n setval_c setval_X X_innerproduct_Y X_innerproduct_X sum_X
    """.split()
)

STAGES = {
    "L": "The command line",
    "C": "Settings",
    "P": "Reading Fortran",
    "M": "Kernel metadata",
    "S": "Invokes and schedules",
    "T": "Scripts and transformations",
    "G": "Generated code",
    "V": "The verifier",
    "R": "Run-time errors",
    "I": "Internal compiler errors",
}


def parts() -> dict[str, str]:
    """Return every generated part by its name."""
    return {
        "options": _options(build_parser()),
        "kernel-options": _options(build_kernel_parser()),
        "codes": "\n".join(_codes()),
        "real-built-ins": _builtins(lambda kernel: not kernel.name.startswith("int_")),
        "integer-built-ins": _builtins(lambda kernel: kernel.name.startswith("int_")),
        "kinds": _kinds(),
        "field-accesses": _field_accesses(),
        "other-accesses": _other_accesses(),
        "spaces": _spaces(),
        "words": _words(),
        "objects": _objects(),
        "members": "\n".join(_members()),
        "expectations": _expectations(),
        "layers": _layers(),
        "steps": _steps(),
        "recipes": _table(("Recipe", "Steps"), ((_code(n), _code(s)) for n, s in RECIPES.items())),
        "step-pages": "\n\n".join(_step_page(name, step) for name, step in STEPS.items()),
        "psyclone-transformations": _psyclone_transformations(),
        "script-views": _script_views(),
        "script-names": _script_names(),
        "file-names": _codes_of(sorted({*NODES_OF_FILES, *SYMBOLS_OF_FILES})),
        "file-transformations": _file_transformations(),
        "psyclone-missing": _codes_of(sorted(_missing())),
        "sections": "\n".join(f"1. {item.value}" for item in SetupSection if item.value),
    }


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = (head, tuple("---" for _ in head), *rows)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _code(text: str) -> str:
    escaped = text.replace("|", "\\|")
    return f"`{escaped}`"


def _codes_of(texts: Iterable[str]) -> str:
    return ", ".join(map(_code, texts))


# ---------------------------------------------------------------------------- command lines


def _options(parser: argparse.ArgumentParser) -> str:
    """Return a table for each group of options that has any."""
    texts = []
    for group in parser._action_groups:  # noqa: SLF001 - argparse has no public way to its groups
        rows = [_option(action) for action in group._group_actions]  # noqa: SLF001
        if rows:
            title = group.title or ""
            texts.append(
                f"### {title[:1].upper()}{title[1:]}\n\n{_table(('Option', 'Meaning'), rows)}\n"
            )
    return "\n".join(texts)


def _option(action: argparse.Action) -> tuple[str, str]:
    value = " ".join(action.metavar) if isinstance(action.metavar, tuple) else action.metavar
    if value is None and action.choices is not None:
        value = "{" + ",".join(action.choices) + "}"
    if not action.option_strings:
        return _code(f"{value} ..." if action.nargs == "+" else str(value)), _help(action)
    takes_value = action.nargs != 0
    shown = f"[{value}]" if action.nargs == "?" else str(value)
    flags = (f"{flag} {shown}" if takes_value else flag for flag in action.option_strings)
    choices = f"; one of {_codes_of(action.choices)}" if action.metavar and action.choices else ""
    return _codes_of(flags), f"{_help(action)}{choices}"


def _help(action: argparse.Action) -> str:
    """Return the help of an option, with quoted words as code."""
    return re.sub(r"(?<!\w)'([^']+)'(?!\w)", lambda match: _code(match[1]), action.help or "")


# ---------------------------------------------------------------------------- diagnostics


def _codes() -> Iterator[str]:
    for letter, title in STAGES.items():
        codes = sorted(code for code in CODES if code[0] == letter)
        if codes:
            yield f"## {letter}: {title[0].lower()}{title[1:]}\n"
        for code in codes:
            yield f"### {code}\n\n{CODES[code]}\n"
            if example := _example(code):
                yield f"```text\n{example}\n```\n"


def _example(code: str) -> str:
    """Return the first problem with `code` that a test folder expects, or an empty text."""
    for folder in sorted((TESTS / "errors").glob(f"{code}_*")):
        expected = folder / "expected.txt"
        text = expected.read_text(encoding="utf-8") if expected.is_file() else ""
        for problem in re.split(r"\n\n(?=error\[|warning\[)", text.rstrip()):
            if f"[{code}]" in problem.partition("\n")[0]:
                return problem
    return ""


# ---------------------------------------------------------------------------- built-ins


def _builtins(wanted: Callable[[Kernel], bool]) -> str:
    kernels = [kernel for name in builtin_names() if (kernel := builtin(name)) and wanted(kernel)]
    return _table(("Call", "Effect on every dof", "Since"), map(_builtin, kernels))


def _builtin(kernel: Kernel) -> tuple[str, str, str]:
    formula = kernel.formula
    assert formula is not None
    letters = formula.letters
    written = next(
        letter for letter, arg in zip(letters, kernel.args, strict=True) if arg.access.writes
    )
    value = spell(formula.value)
    if formula.reduction is not None:
        value = f"{formula.reduction.value} of {value} over all dofs of all ranks"
        effect = f"`{written}` = {value}"
    else:
        effect = _code(f"{written} = {value}")
    since = "2019" if kernel.name in BUILTINS_OF_2019 else "after 2019"
    return _code(f"{kernel.name}({', '.join(letters)})"), effect, since


# ---------------------------------------------------------------------------- metadata


def _kinds() -> str:
    rows = (
        (
            _code(word),
            _codes_of(
                name for name, kind in words.DATA_TYPES.items()
                if kind in words.ALLOWED_DATA_TYPES[meaning]
            ),
        )
        for word, meaning in words.ARG_KINDS.items()
    )  # fmt: skip
    return _table(("Kind", "Data types"), rows)


def _access_words(accesses: Iterable[Access]) -> str:
    return _codes_of(f"gh_{access.value}" for access in accesses) or "none"


def _field_accesses() -> str:
    iterations = dict.fromkeys(iteration for iteration, _ in FIELD_ACCESSES)
    rows = (
        (
            _code(iteration.value),
            _access_words(FIELD_ACCESSES[iteration, True]),
            _access_words(FIELD_ACCESSES[iteration, False]),
        )
        for iteration in iterations
    )
    return _table(("`operates_on`", "Shared dofs", "No shared dofs"), rows)


def _other_accesses() -> str:
    rows = ((kind.value, _access_words(allowed)) for kind, allowed in OTHER_ACCESSES.items())
    return _table(("Argument", "Accesses"), rows)


def _spaces() -> str:
    rows = (
        (
            _code(name),
            space.continuity.value + (", read-only" if name in READ_ONLY_SPACES else ""),
            str(space.basis),
            str(space.diff_basis),
        )
        for name, space in SPACES.items()
    )
    return _table(("Space", "Continuity", "Basis", "Differential basis"), rows)


def _words() -> str:
    tables: dict[str, Iterable[str]] = {
        "`operates_on`": words.ITERATIONS,
        "`iterates_over` (2019)": words.ITERATIONS_2019,
        "`stencil(...)`": words.STENCILS,
        "`mesh_arg`": words.MESHES,
        "`func_type`": words.OPERATIONS,
        "`gh_shape`": words.SHAPES,
        "`meta_reference_element`": REFERENCE_ELEMENT_PROPERTIES,
        "`meta_mesh`": MESH_PROPERTIES,
    }
    return _table(
        ("Component", "Keywords"), ((where, _codes_of(known)) for where, known in tables.items())
    )


# ---------------------------------------------------------------------------- infrastructure


def _objects() -> str:
    items = (*OBJECT_TYPES.values(), *QUADRATURE_TYPES.values())
    rows = (
        (_code(item.name), _code(item.proxy), _code(item.module), _code(_kind_of(item)))
        for item in items
    )
    return _table(("Type", "Proxy", "Module", "Data"), rows)


def _kind_of(item: ProxiedType) -> str:
    return f"{item.data.intrinsic.value}({item.data.kind})"


def _members() -> Iterator[str]:
    for group in (
        abi.FieldMember, abi.OperatorMember, abi.Columnwise, abi.SpaceProcedure, abi.Mesh,
        abi.MeshMap, abi.StencilMapProcedure,
        abi.ReferenceElementProcedure, abi.Quadrature, abi.Scalar, abi.Log,
    ):  # fmt: skip
        yield f"- {_title(group)}: {_codes_of(member.value for member in group)}"


def _title(group: type[StrEnum] | type[Enum]) -> str:
    return (inspect.getdoc(group) or group.__name__).rstrip(".")


# ---------------------------------------------------------------------------- PSyclone


def _expectations() -> str:
    """Return the differences that the differential tests expect, without repeating a reason."""
    file = TESTS / "differential" / "expectations.toml"
    expected = tomllib.loads(file.read_text(encoding="utf-8"))
    titles = {
        "refused": "PSyclone rejects it",
        "broken": "PSyclone's algorithm and PSy layer are inconsistent",
        "difference": "the PSy layers differ",
    }
    rows: dict[tuple[str, str], dict[str, None]] = {}
    for group, title in titles.items():
        for item in expected[group]:
            patterns = rows.setdefault((title, item["reason"]), {})
            patterns.update(dict.fromkeys(item["algorithms"]))
    return _table(
        ("Difference", "Reason", "Algorithms"),
        ((title, reason, _codes_of(patterns)) for (title, reason), patterns in rows.items()),
    )


def _psyclone_transformations() -> str:
    """Return PSyclone's transformations with their options and the equivalent steps."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    supported = ((name, kind) for name, kind in TRANSFORMATIONS.items() if name not in _missing())
    for name, kind in sorted(supported, key=lambda item: _places_in_catalogue(item[1])):
        said = (inspect.getdoc(kind) or "").split("\n\n", maxsplit=1)[0]
        row = (" ".join(said.split()), _codes_of(kind.options), _codes_of(_steps_of(kind)))
        rows.setdefault(row, []).append(name)
    return _table(
        ("PSyclone", "Effect", "Options", "Steps"),
        ((_codes_of(names), *row) for row, names in rows.items()),
    )


def _file_transformations() -> str:
    """Return PSyclone's transformations, and whether they accept nodes of files."""
    rows: dict[tuple[str, str], list[str]] = {}
    for name, kind in TRANSFORMATIONS.items():
        on_files = hasattr(kind, "_on_file")
        said = " ".join((inspect.getdoc(kind) or "").split("\n\n", maxsplit=1)[0].split())
        if on_files:
            rows.setdefault(("files", said), []).append(name)
        elif name in _missing():
            rows.setdefault(("unsupported", ""), []).append(name)
        else:
            rows.setdefault(("LFRic and GOcean only", ""), []).append(name)
    order = ("files", "LFRic and GOcean only", "unsupported")
    return _table(
        ("PSyclone", "Accepted nodes", "Effect"),
        (
            (_codes_of(names), place, said)
            for (place, said), names in sorted(rows.items(), key=lambda one: order.index(one[0][0]))
        ),
    )


def _script_views() -> str:
    """Return each class of nodes and views with its base class, description and own members."""
    shown = {getattr(scripting, name): name for name in scripting.__all__ if name != "Construct"}
    views = [kind for kind in (*shown, ScheduleNode) if not issubclass(kind, CheckedStep)]
    rows = []
    for kind in sorted(views, key=lambda one: shown.get(one, "")):
        base = next((one for one in kind.__mro__[1:] if one in views), None)
        above = {name for one in (base,) if one for name in dir(one)}
        members = sorted(
            name for name in dir(kind) if not name.startswith("_") and name not in above
        )
        rows.append(
            (
                _code(shown[kind]) if kind in shown else "nodes of schedules",
                ""
                if base is None
                else _code(shown[base])
                if base in shown
                else "nodes of schedules",
                inspect.getdoc(kind).partition("\n")[0],
                ", ".join(_member(kind, name) for name in members),
            )
        )
    return _table(("Class", "Base", "Represents", "Attributes and methods of its own"), rows)


def _member(kind: type, name: str) -> str:
    found = inspect.getattr_static(kind, name, None)
    return _code(f"{name}()" if inspect.isfunction(found) else name)


def _script_names() -> str:
    """Return the classes with the names of PSyclone's nodes that stand for them."""
    names: dict[str, list[str]] = {}
    own = {getattr(scripting, name): name for name in scripting.__all__ if name != "Construct"}
    for name, kind in sorted({**_NODES, **_OLD_NODES}.items()):
        if kind in own:
            names.setdefault(own[kind], []).append(name)
    rows = ((_code(name), _codes_of(others)) for name, others in sorted(names.items()))
    return _table(("Class", "Names in PSyclone"), rows)


def _missing() -> list[str]:
    """Return the names that can be imported and are refused where they are applied."""
    return [
        name
        for name, kind in TRANSFORMATIONS.items()
        if issubclass(kind, Unsupported) and not hasattr(kind, "_on_file")
    ]


def _steps_of(kind: type[Transformation]) -> list[str]:
    """Return the names of the steps that a transformation makes."""
    makers = [getattr(kind, name) for name in ("_step", "_step_for") if hasattr(kind, name)]
    used = [value for maker in makers for value in inspect.getclosurevars(maker).globals.values()]
    return [name for name, step in STEPS.items() if step in used]


def _places_in_catalogue(kind: type[Transformation]) -> list[int]:
    names = list(STEPS)
    return [names.index(name) for name in _steps_of(kind)]


# ---------------------------------------------------------------------------- layers


def _layers() -> str:
    """Return each layer with what it says of itself, and with what the tests let it import."""
    allowed = runpy.run_path(str(TESTS / "support" / "layers.py"))["LAYERS"]
    rows = []
    for layer in allowed:
        file = PACKAGE / layer / "__init__.py"
        if file.is_file():
            said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            imports = sorted(allowed[layer] - {"__init__"})
            summary = " ".join(said.split("\n\n")[0].split())
            rows.append((_code(layer), summary, _codes_of(imports)))
    return _table(("layer", "content", "imports"), rows)


# ---------------------------------------------------------------------------- transformations


def _steps() -> str:
    rows = []
    for name, step in STEPS.items():
        said = (inspect.getdoc(step) or "").split("\n\n", maxsplit=1)[0]
        parameters = fields(step)  # type: ignore[arg-type]
        places = [item.name for item in parameters if item.default is MISSING]
        options = [_default(item) for item in parameters if item.default is not MISSING]
        summary = " ".join(said.split())
        rows.append((_code(name), summary, _codes_of(places), _codes_of(options)))
    return _table(("Step", "Effect", "Positions", "Options"), rows)


def _step_page(name: str, step: type) -> str:
    """Return the section of a step: its docstring, with the example as a code block."""
    said = (inspect.getdoc(step) or "").split("\n\n")
    shown = [part for part in said if part.startswith("before:")]
    told = [" ".join(part.split()) for part in said if part not in shown]
    blocks = [f"```text\n{part}\n```" for part in shown]
    return "\n\n".join((f"## {_code(name)}", f"In a script: `{step.__name__}`.", *told, *blocks))


def _default(item: Field[object]) -> str:
    if item.default is None:
        return item.name
    value = str(item.default)
    return f"{item.name}={value.lower() if isinstance(item.default, bool) else value}"
