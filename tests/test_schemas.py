"""JSON output matches its schema: every diagnostic and every schedule of the tests."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command import run_command
from psyclone_storage.analysis.bodies.verdict import VerdictStatus
from psyclone_storage.cli.main import main
from psyclone_storage.cli.schemas import SCHEMAS, schema_file
from psyclone_storage.ir.kernel import (
    Access,
    ArgKind,
    Iteration,
    MeshRole,
    ReductionOp,
    StencilShape,
)
from psyclone_storage.ir.loop_split import PeelSection
from psyclone_storage.ir.schedule import DatumRole, Over, Phase, Reach
from psyclone_storage.ir.transfer import Side

TESTS = Path(__file__).parent
ERRORS = sorted(path for path in (TESTS / "errors").iterdir() if path.is_dir())
CASES = sorted((TESTS / "cases").glob("*/*/"))


@cache
def strict(name: str) -> jsonschema.Draft202012Validator:
    """Return a validator that takes no key which its schema does not name."""
    schema = json.loads(schema_file(name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    for part in objects_of(schema):
        part["additionalProperties"] = False
    return jsonschema.Draft202012Validator(schema)


def objects_of(value: Any) -> Iterator[dict[str, Any]]:
    """Yield each part of a schema that describes an object."""
    if isinstance(value, dict):
        if "properties" in value:
            yield value
        for inner in value.values():
            yield from objects_of(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from objects_of(inner)


@pytest.mark.parametrize("folder", ERRORS, ids=lambda folder: folder.name)
def test_every_diagnostic_is_as_its_schema_says(folder: Path, tmp_path: Path) -> None:
    words = (*words_of(folder, "-api lfric -d kernels alg.x90"), "--diagnostics", "json")
    work = tmp_path / "work"
    shutil.copytree(folder, work)
    problems = json.loads(run_command([*words, "--traceback"], work).err)
    strict("diagnostics").validate(problems)
    assert problems


@pytest.mark.parametrize("folder", CASES, ids=lambda folder: f"{folder.parent.name}-{folder.name}")
def test_every_schedule_is_as_its_schema_says(folder: Path, tmp_path: Path) -> None:
    api = folder.parent.name
    words = words_of(folder, f"-api {api} -d kernels -oalg alg.f90 -opsy psy.f90 alg.x90")
    if words[0].startswith("psyclone-storage") or any(word.endswith(".py") for word in words[-1:]):
        pytest.skip("no schedule of an algorithm in Fortran")
    work = tmp_path / "work"
    shutil.copytree(folder, work)
    if not (work / "kernels").is_dir():
        (work / "kernels").symlink_to(TESTS / "corpus" / api / "kernels")
    words = [word for word in words if word not in ("--schedule-json", "schedule.json")]
    done = run_command([*words, "--schedule-json", "asked.json"], work)
    assert done.status == 0, done.err
    schedules = json.loads(done.written["asked.json"])
    strict("schedules").validate(schedules)
    assert schedules


def test_every_loop_is_as_its_schema_says(tmp_path: Path) -> None:
    """Each file of plain Fortran in the tests, with its directives and without them."""
    files = sorted((TESTS / "corpus").glob("*/kernels/*.f90"))[::3]
    for words in ([], ["--strip-directives", "omp", "--apply", "auto"]):
        done = run_command([*map(str, files), *words, "--loops-json"], tmp_path)
        assert done.status == 0, done.err
        loops = json.loads(done.out)
        strict("loops").validate(loops)
        assert {one["verdict"] for one in loops} >= {"independent", "carried"}
        assert any(one["blocking"] for one in loops)


def test_verdicts_of_loops_are_those_that_there_are() -> None:
    schema = json.loads(schema_file("loops").read_text(encoding="utf-8"))
    described = schema["$defs"]["loop"]["properties"]["verdict"]
    assert set(described["enum"]) == values(VerdictStatus)


def test_contracts_and_records_are_as_their_schemas_say(tmp_path: Path) -> None:
    """Each file of a program is planned alone; one procedure cannot be planned."""
    (tmp_path / "m.f90").write_text(
        "module m\n  implicit none\n  real :: h(10)\n  real, target :: t(10)\ncontains\n"
        "  subroutine s(x, p)\n    real :: x(10)\n    real, pointer :: p(:)\n"
        "    !$acc kernels\n    x = x + h + p + t\n    !$acc end kernels\n"
        "  end subroutine s\n  recursive subroutine r(x)\n    real :: x(10)\n"
        "    !$acc kernels\n    x = x + 1.0\n    !$acc end kernels\n    call r(x)\n"
        "  end subroutine r\nend module m\n",
        "utf-8",
    )
    (tmp_path / "main.f90").write_text(
        "program main\n  use m, only : s\n  use other, only : f\n  real :: a(10)\n"
        "  real, pointer :: p(:)\n  call s(a, p)\n  call f(a)\nend program main\n",
        "utf-8",
    )
    for name in ("m", "main"):
        words = ["--device-data", "main", "--contracts", "con", f"{name}.f90"]
        done = run_command([*words, "-o", f"out/{name}.f90"], tmp_path)
        assert done.status == 0, done.err
        record = json.loads(done.written[f"out/{name}.f90.link.json"])
        strict("links").validate(record)
    assert record["used"]
    assert record["outside"]
    contract = json.loads((tmp_path / "con" / "m.contract.json").read_text("utf-8"))
    strict("contracts").validate(contract)
    recursive, planned = contract["procedures"]
    assert recursive["problems"]
    assert planned["states"]
    assert planned["left_out"]
    assert contract["left_out"]


def words_of(folder: Path, default: str) -> list[str]:
    """Return the words of the command line of a folder."""
    file = folder / "options"
    return shlex.split(file.read_text(encoding="utf-8") if file.is_file() else default)


def values(kind: type[Enum]) -> set[object]:
    """Return what the values of an enumeration are written as."""
    return {item.value for item in kind}


@pytest.mark.parametrize(
    ("part", "key", "kind", "absent"),
    [
        ("datum", "role", DatumRole, set()),
        ("datum", "access", Access, set()),
        ("datum", "kind", ArgKind, {None, "-grid property"}),
        ("argument", "kind", ArgKind, set()),
        ("argument", "mesh", MeshRole, {None}),
        ("argument", "stencil", StencilShape, {None}),
        ("peel", "section", PeelSection, set()),
        ("loop", "over", Over, set()),
        ("loop", "reach", Reach, set()),
        ("call", "iteration", Iteration, set()),
        ("exchange", "phase", Phase, set()),
        (
            "reduction",
            "operation",
            ReductionOp,
            {"-product", "-and", "-or", "-equivalent", "-not equivalent"},
        ),
        ("update", "to", Side, set()),
    ],
)
def test_words_are_those_that_there_are(
    part: str, key: str, kind: type[Enum], absent: set[object]
) -> None:
    schema = json.loads(schema_file("schedules").read_text(encoding="utf-8"))
    described = schema["$defs"][part]["properties"][key]
    words = set(described.get("anyOf", [described])[0]["enum"])
    left_out = {word[1:] for word in absent if isinstance(word, str)}
    assert words == (values(kind) - left_out) | ({None} & absent)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_command_prints_its_schemas(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        main(["--schema", name])
    assert leaving.value.code == 0
    assert json.loads(capsys.readouterr().out)["$id"] == f"{name}.schema.json"


def test_a_key_that_no_schema_names_is_noticed() -> None:
    (problem,) = json.loads(json.dumps([{"code": "X001", "severity": "error", "message": "No.",
                                         "hint": "", "related": []}]))  # fmt: skip
    strict("diagnostics").validate([problem])
    with pytest.raises(jsonschema.ValidationError):
        strict("diagnostics").validate([problem | {"other": 1}])
    with pytest.raises(jsonschema.ValidationError):
        strict("diagnostics").validate([problem | {"line": 1}])
