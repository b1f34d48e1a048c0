"""Contracts of modules and external procedures in files, and the records of outputs.

Each module and each external procedure of a transformed file has a contract: its interface, and for
each procedure its effects, and the states of its arrays at entry and at exit. Other commands read
only this, not the source. It contains no line numbers, so that it changes only if other files are
affected. What an output assumes about other files is in a record next to it, which `--link-check`
reads.

Both are JSON with the digest of their content, so that a truncated or edited file is detected.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from psyclone_storage.analysis.bodies.array_uses import ArrayUse
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.reading import read_text_input
from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.device_program import (
    Contract,
    FixedStates,
    ProcedureName,
    ProgramArray,
    Valid,
)
from psyclone_storage.pipeline.program_uses import GivenUses, ProcedureUses

VERSION = 1
SUFFIX = ".contract.json"
_WORDS = ("read", "written", "covered")


@dataclass(frozen=True, slots=True)
class ContractProblem:
    """A reason why a procedure cannot be in a call tree, with the file of the procedure."""

    procedure: str
    reason: str
    source: str


@dataclass(frozen=True, slots=True)
class ProcedureContract:
    """The contract of a procedure.

    - `given`: its effects on arguments and variables of modules.
    - `regions`: "acc" and "omp", the kinds of its device regions and those of procedures that it
      calls.
    - `states`: the states of its arrays, if it is planned.
    - `left_out`: arguments without a plan, with reasons.
    - `problems`: reasons why it, or a procedure that it calls, cannot be planned.
    """

    name: ProcedureName
    given: GivenUses
    regions: frozenset[str] = frozenset()
    states: Mapping[ProgramArray, FixedStates] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[ContractProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class UnitContract:
    """The contract of a module or an external procedure, `unit`, in the file `source`.

    - `interface`: its declarations as Fortran, without the bodies of procedures.
    - `promises`: promises by '--assume' on which it relies.
    - `entries`: names of `entry` statements.
    - `left_out`: variables of modules without a plan, with reasons.
    """

    unit: str
    source: str
    interface: str
    promises: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    left_out: Mapping[ProgramArray, str] = field(default_factory=dict)
    procedures: tuple[ProcedureContract, ...] = ()


@dataclass(frozen=True, slots=True)
class ContractName:
    """A name in a file, and the line of its first use or of its definition."""

    name: str
    line: int
    digest: str = ""


@dataclass(frozen=True, slots=True)
class RecordedProcedure:
    """A procedure of a file, and the procedures of the program that it calls."""

    name: str
    line: int
    calls: tuple[ContractName, ...] = ()


@dataclass(frozen=True, slots=True)
class OutputRecord:
    """The assumptions of an output about other files.

    - `source`, `output`: the files, with the digests of their contents.
    - `root`: the procedure of '--device-data', with its line if it is in the file, else 0.
    - `folder`: the folder of the contracts.
    - `units`: the modules and external procedures in the file, with digests of their contracts.
    - `used`: those of other files on whose contracts the output relies.
    - `outside`: those that are assumed to be in no file of the program.
    """

    source: str
    source_digest: str
    output: str
    output_digest: str
    root: ContractName
    folder: str
    promises: tuple[str, ...]
    units: tuple[ContractName, ...]
    used: tuple[ContractName, ...]
    outside: tuple[ContractName, ...]
    procedures: tuple[RecordedProcedure, ...]


def contract_path(folder: Path, unit: str) -> Path:
    """Return the file of the contract of a module or an external procedure."""
    return folder / f"{unit}{SUFFIX}"


def record_path(output: Path) -> Path:
    """Return the file of the record of an output."""
    return output.with_name(f"{output.name}.link.json")


# ---------------------------------------------------------------------------- JSON


def sealed(kind: str, content: dict[str, Any]) -> str:
    """Return the text of a JSON file with its version and digest."""
    table = {"kind": kind, "version": VERSION, **content}
    return json.dumps({**table, "digest": _digest(table)}, indent=1) + "\n"


def _digest(table: Mapping[str, Any]) -> str:
    return digest_of(json.dumps(table, sort_keys=True))


def unsealed(path: Path, kind: str) -> dict[str, Any]:
    """Return the content of a JSON file that `sealed` has made.

    Raises:
        CompileError: `L021`, the file is missing, truncated, edited, or of another version.
    """
    try:
        table = json.loads(read_text_input(path))
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from None
    except (ValueError, RecursionError):
        raise _unusable(path, "it is not JSON, or not complete") from None
    if not isinstance(table, dict) or table.get("kind") != kind:
        raise _unusable(path, f"it is not a {kind}")
    if table.get("version") != VERSION:
        raise _unusable(path, "another version of this tool has written it")
    digest = table.pop("digest", None)
    if digest != _digest(table):
        raise _unusable(path, "its content was changed after it had been written")
    return {**table, "digest": digest}


def _unusable(path: Path, reason: str) -> CompileError:
    message = f"'{path}' cannot be used: {reason}."
    return CompileError(Diagnostic("L021", message, file=str(path)))


def contract_text(contract: UnitContract) -> str:
    """Return the text of the file of a contract."""
    return sealed("contract", {
        "unit": contract.unit,
        "source": contract.source,
        "promises": list(contract.promises),
        "entries": list(contract.entries),
        "left_out": {str(one): why for one, why in sorted(contract.left_out.items())},
        "procedures": [_procedure_object(one) for one in contract.procedures],
        "interface": contract.interface.splitlines(),
    })  # fmt: skip


def digest_in(text: str) -> str:
    """Return the digest in the text of a file that `sealed` has made."""
    return str(json.loads(text)["digest"])


def read_contract(path: Path) -> tuple[UnitContract, str]:
    """Return the contract in a file, and its digest.

    Raises:
        CompileError: `L021`, the file is missing, truncated, edited, or of another version.
    """
    table = unsealed(path, "contract")
    try:
        found = UnitContract(
            table["unit"],
            _text(table["source"]),
            "\n".join(table["interface"]) + "\n",
            tuple(map(_text, table["promises"])),
            tuple(map(_text, table["entries"])),
            {_shared(name): _text(why) for name, why in table["left_out"].items()},
            tuple(map(_procedure_of, table["procedures"])),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise _unusable(path, "it is not a contract") from None
    if found.unit != path.name.removesuffix(SUFFIX):
        raise _unusable(path, f"it is the contract of '{found.unit}'")
    return found, table["digest"]


def _text(value: object) -> str:
    """Return a value that must be text, as a name or a path.

    Raises:
        TypeError, ValueError: it is not.
    """
    if not isinstance(value, str):
        raise TypeError
    if "\0" in value:
        raise ValueError
    return value


def _procedure_object(one: ProcedureContract) -> dict[str, Any]:
    uses = one.given.uses
    return {
        "module": one.name.module,
        "name": one.name.name,
        "regions": sorted(one.regions),
        "arguments": {key: _words(use) for key, use in sorted(uses.arguments.items())},
        "shared": {str(datum): _words(use) for datum, use in sorted(uses.shared.items())},
        "changed": sorted(map(str, one.given.changed)),
        "allocates": sorted(one.given.allocates),
        "states": [_states_object(*item) for item in sorted(one.states.items(), key=_first)],
        "left_out": dict(sorted(one.left_out.items())),
        "problems": [
            {"procedure": problem.procedure, "reason": problem.reason, "source": problem.source}
            for problem in one.problems
        ],
    }


def _first(item: tuple[ProgramArray, FixedStates]) -> ProgramArray:
    return item[0]


def _procedure_of(table: dict[str, Any]) -> ProcedureContract:
    name = ProcedureName(_text(table["module"]), _text(table["name"]))
    uses = ProcedureUses(
        {key: _use(words) for key, words in table["arguments"].items()},
        {_shared(key): _use(words) for key, words in table["shared"].items()},
    )
    states = {
        (
            ProgramArray(name.module, name.name, one["argument"])
            if "argument" in one
            else _shared(one["variable"])
        ): FixedStates(_pairs(one["whole"]), _pairs(one["part"]), one["on_device"])
        for one in table["states"]
    }
    regions = frozenset(map(str, table["regions"]))
    given = GivenUses(
        uses, frozenset(map(_shared, table["changed"])), frozenset(map(str, table["allocates"]))
    )
    problems = tuple(
        ContractProblem(_text(one["procedure"]), _text(one["reason"]), _text(one["source"]))
        for one in table["problems"]
    )
    left_out = {key: _text(why) for key, why in table["left_out"].items()}
    return ProcedureContract(name, given, regions, states, left_out, problems)


def _states_object(datum: ProgramArray, states: FixedStates) -> dict[str, Any]:
    return {
        **({"argument": datum.name} if datum.procedure else {"variable": str(datum)}),
        "on_device": states.on_device,
        "whole": _pairs_object(states.whole),
        "part": _pairs_object(states.part),
    }


def _pairs_object(pairs: Mapping[Contract, float]) -> list[dict[str, Any]]:
    return [
        {"entry": one.entry.value, "exit": one.exit.value, "cost": pairs[one]}
        for one in sorted(pairs, key=lambda one: (one.entry.value, one.exit.value))
    ]


def _pairs(table: Iterable[Mapping[str, Any]]) -> dict[Contract, float]:
    return {Contract(Valid(one["entry"]), Valid(one["exit"])): float(one["cost"]) for one in table}


def _words(use: ArrayUse) -> list[str]:
    given = (use.exposed, use.written, use.covered)
    return [word for word, is_so in zip(_WORDS, given, strict=True) if is_so]


def _use(words: Iterable[str]) -> ArrayUse:
    known = set(words)
    return ArrayUse(*(word in known for word in _WORDS))


def _shared(name: str) -> ProgramArray:
    module, _, key = name.rpartition(".")
    return ProgramArray(module, "", key)


def record_text(record: OutputRecord) -> str:
    """Return the text of the file of a record."""
    return sealed("link record", {
        "source": {"file": record.source, "digest": record.source_digest},
        "output": {"file": record.output, "digest": record.output_digest},
        "root": {"name": record.root.name, "line": record.root.line},
        "contracts": record.folder,
        "promises": list(record.promises),
        "units": list(map(_used_object, record.units)),
        "used": list(map(_used_object, record.used)),
        "outside": list(map(_used_object, record.outside)),
        "procedures": [
            {"name": one.name, "line": one.line, "calls": list(map(_used_object, one.calls))}
            for one in record.procedures
        ],
    })  # fmt: skip


def read_record(path: Path) -> OutputRecord:
    """Return the record in a file.

    Raises:
        CompileError: `L021`, the file is missing, truncated, edited, or of another version.
    """
    table = unsealed(path, "link record")
    try:
        source, output, root = table["source"], table["output"], table["root"]
        units, used, outside = (
            tuple(map(_used_of, table[key])) for key in ("units", "used", "outside")
        )
        return OutputRecord(
            _text(source["file"]),
            _text(source["digest"]),
            _text(output["file"]),
            _text(output["digest"]),
            ContractName(_text(root["name"]), int(root["line"])),
            _text(table["contracts"]),
            tuple(map(_text, table["promises"])),
            units,
            used,
            outside,
            tuple(
                RecordedProcedure(
                    _text(one["name"]), int(one["line"]), tuple(map(_used_of, one["calls"]))
                )
                for one in table["procedures"]
            ),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise _unusable(path, "it is not a link record") from None


def _used_object(one: ContractName) -> dict[str, Any]:
    return {"name": one.name, "line": one.line, "digest": one.digest}


def _used_of(table: Mapping[str, Any]) -> ContractName:
    return ContractName(_text(table["name"]), int(table["line"]), _text(table["digest"]))
