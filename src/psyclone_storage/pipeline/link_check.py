"""Checks the contracts of a whole program: what each output assumes about the other files.

Each output has a record of its assumptions. A conflict names the file with the assumption and the
file that does not meet it, with the lines if the sources have not changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError, Diagnostic, Related
from psyclone_storage.base.digest import digest_of
from psyclone_storage.base.names import listed
from psyclone_storage.base.reading import resolved
from psyclone_storage.base.records import dataclass, field, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.keys import key_of
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.pipeline.contract_files import (
    ContractName,
    OutputRecord,
    UnitContract,
    contract_path,
    read_contract,
    read_record,
    record_path,
)

_AGAIN = "Transform '{}' again, and then the files that use it."


@dataclass(frozen=True, slots=True)
class _Definition:
    """A name with the record of the file that defines it."""

    record: OutputRecord
    name: ContractName


def check_links(files: Iterable[Path]) -> tuple[Diagnostic, ...]:
    """Return the conflicts between the contracts of `files`, the outputs of a whole program."""
    problems: list[Diagnostic] = []
    records: list[OutputRecord] = []
    for file in dict.fromkeys(files):
        try:
            record = read_record(record_path(file))
        except CompileError as error:
            hint = f"Transform the source of '{file}' with '--device-data' and '--contracts'."
            problems += (replace(one, hint=hint) for one in error.problems)
            continue
        records.append(record)
        problems += _of_output(file, record)
    return (*problems, *_LinkCheck(tuple(records)).problems())


def check_defined_once(contracts: Iterable[UnitContract], folder: Path) -> Iterator[Diagnostic]:
    """Yield the units whose contract another file has written that still defines them."""
    for contract in contracts:
        path = contract_path(folder, contract.unit)
        try:
            other = Path(read_contract(path)[0].source)
            text = read_source(other).text
        except CompileError:
            continue
        pattern = regex(rf"\b(?:module|subroutine|function)\s+{contract.unit}\b")
        is_own = resolved(other) == resolved(Path(contract.source))
        if not is_own and pattern.search(key_of(text)):
            message = f"'{contract.unit}' is defined in '{other}' and in '{contract.source}'."
            what = f"remove '{path}' if '{other}' is not part of the program"
            hint = f"Rename one of them, or {what}."
            yield Diagnostic("T099", message, file=contract.source, hint=hint)


def _of_output(file: Path, record: OutputRecord) -> Iterator[Diagnostic]:
    """Yield an error if an output or its source has changed since its record was written."""
    try:
        same = digest_of(read_source(file).text) == record.output_digest
    except CompileError as error:
        yield from error.problems
        return
    source, again = record.source, _AGAIN.format(record.source)
    if not same:
        message = f"'{file}' is not the text that was written for '{source}'."
        yield Diagnostic("T099", message, file=str(file), hint=again)
    elif Path(source).is_file() and digest_of(read_source(Path(source)).text) != (
        record.source_digest
    ):
        message = f"'{file}' is out of date: '{source}' has changed."
        yield Diagnostic("T099", message, file=str(file), hint=again)


@dataclass(slots=True)
class _LinkCheck:
    """The records of a program, and the definitions of names in them."""

    records: tuple[OutputRecord, ...]
    _units: dict[str, list[_Definition]] = field(default_factory=lambda: defaultdict(list))
    _entries: dict[str, _Definition] = field(default_factory=dict)
    _texts: dict[str, SourceText | None] = field(default_factory=dict)

    def problems(self) -> Iterator[Diagnostic]:
        """Yield the conflicts between files."""
        for record in self.records:
            for unit in record.units:
                self._units[unit.name].append(_Definition(record, unit))
        yield from self._of_definitions()
        for record in self.records:
            yield from self._of_assumptions(record)
        yield from self._of_program()
        yield from self._of_calls()

    def _of_definitions(self) -> Iterator[Diagnostic]:
        """Yield units with several definitions, and contracts that are not those of their files."""
        for name, (first, *rest) in self._units.items():
            record = first.record
            for other in rest:
                message = (
                    f"'{name}' is defined in '{record.source}' and in '{other.record.source}'."
                )
                yield self._conflict(message, other, first, "first defined here", "Rename one.")
            try:
                contract, digest = read_contract(contract_path(Path(record.folder), name))
            except CompileError as error:
                hint = f"Transform '{record.source}' again."
                yield from (replace(one, hint=hint) for one in error.problems)
                continue
            self._entries |= dict.fromkeys(contract.entries, first)
            if not rest and digest != first.name.digest:
                path = contract_path(Path(record.folder), name)
                message = f"'{path}' is not the contract that was written for '{record.source}'."
                hint = _AGAIN.format(record.source)
                yield Diagnostic("T099", message, file=str(path), hint=hint)

    def _of_assumptions(self, record: OutputRecord) -> Iterator[Diagnostic]:
        """Yield the assumptions of a file that are not met."""
        source = record.source
        for used in record.used:
            own = _Definition(record, used)
            found = self._units.get(used.name, ())
            if not found:
                message = (
                    f"'{source}' relies on the contract of '{used.name}', which no file defines."
                )
                hint = f"Give the file of '{used.name}', too, or transform '{source}' again."
                yield Diagnostic("T099", message, self._span(own), file=source, hint=hint)
            for one in found:
                if one.name.digest != used.digest:
                    other = one.record.source
                    message = (
                        f"'{source}' relies on another contract of '{used.name}' than that of "
                        f"'{other}'."
                    )
                    hint = f"Transform '{source}' again."
                    yield self._conflict(message, own, one, "defined here", hint)
        for used in record.outside:
            definition = next(iter(self._units.get(used.name, ())), self._entries.get(used.name))
            if definition is not None:
                message = (
                    f"'{source}' assumes that '{used.name}' is not in the program, but "
                    f"'{definition.record.source}' defines it."
                )
                hint = f"Transform '{definition.record.source}' first, and then '{source}' again."
                own = _Definition(record, used)
                yield self._conflict(message, own, definition, "defined here", hint)

    def _of_program(self) -> Iterator[Diagnostic]:
        """Yield differences between options, and programs without a root or with several."""
        for first, other in zip(self.records[:1] * len(self.records), self.records, strict=True):
            files = f"'{first.source}' and '{other.source}'"
            if first.root.name != other.root.name:
                message = f"{files} have different roots: '{first.root.name}', '{other.root.name}'."
                hint = "Give the same '--device-data PROCEDURE' for all files."
                yield Diagnostic("T099", message, file=other.source, hint=hint)
            if first.promises != other.promises:
                message = f"{files} rely on different promises."
                hint = "Give the same '--assume' for all files."
                yield Diagnostic("T099", message, file=other.source, hint=hint)
        roots = [_Definition(one, one.root) for one in self.records if one.root.line]
        if self.records and not roots:
            name = self.records[0].root.name
            message = f"No file defines '{name}', which creates the copies on the device."
            hint = "Give the file of this procedure, too."
            yield Diagnostic("T099", message, file=self.records[0].source, hint=hint)
        for again in roots[1:]:
            files = f"'{roots[0].record.source}' and in '{again.record.source}'"
            message = f"'{again.name.name}' is defined in {files}."
            hint = "Name the module, too: '--device-data MODULE.PROCEDURE'."
            yield self._conflict(message, again, roots[0], "first defined here", hint)

    def _of_calls(self) -> Iterator[Diagnostic]:
        """Yield recursion through several files."""
        homes = {one.name: record for record in self.records for one in record.procedures}
        calls = {one.name: one.calls for record in self.records for one in record.procedures}
        done: set[str] = set()
        for start, first in calls.items():
            path: list[tuple[str, Iterator[ContractName]]] = [(start, iter(first))]
            while path:
                name, rest = path[-1]
                call = next(rest, None)
                if call is None:
                    done.add(name)
                    path.pop()
                    continue
                active = [one for one, _ in path]
                if call.name in active:
                    cycle = active[active.index(call.name) :]
                    if len({homes[one].source for one in cycle}) > 1:
                        yield self._recursion(cycle, homes, call)
                elif call.name in calls and call.name not in done:
                    path.append((call.name, iter(calls[call.name])))

    def _recursion(
        self, cycle: list[str], homes: dict[str, OutputRecord], call: ContractName
    ) -> Diagnostic:
        first, last = homes[call.name], homes[cycle[-1]]
        names = listed(cycle, "and")
        message = f"{names} in '{first.source}' and '{last.source}' call each other."
        lines = {one.name: one.line for one in first.procedures}
        own = _Definition(last, call)
        start = _Definition(first, ContractName(call.name, lines[call.name]))
        hint = "Put the procedures into one file, or remove the recursion."
        return self._conflict(message, own, start, "defined here", hint)

    # ------------------------------------------------------------------------ places

    def _conflict(
        self, message: str, own: _Definition, other: _Definition, label: str, hint: str
    ) -> Diagnostic:
        """Return a conflict with the places in both files, if these are known."""
        place = self._span(other)
        related = () if place is None else (Related(place, label),)
        source = own.record.source
        return Diagnostic("T099", message, self._span(own), hint=hint, related=related, file=source)

    def _span(self, one: _Definition) -> Span | None:
        """Return the line of a name in the source, None if the source has changed."""
        path, line = one.record.source, one.name.line
        if path not in self._texts:
            self._texts[path] = None
            if Path(path).is_file():
                found = read_source(Path(path))
                same = digest_of(found.text) == one.record.source_digest
                self._texts[path] = found if same else None
        text = self._texts[path]
        if text is None or not text.has_line(line):
            return None
        content = text.line(line)
        start = text.start_of_line(line) + len(content) - len(content.lstrip())
        return text.span(start, start + len(content.strip()))
