"""Files of contracts: those that a command reads and writes, and the check of a whole program."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from psyclone_storage.base.diagnostic import raise_if_any
from psyclone_storage.base.digest import digest_of
from psyclone_storage.cli.write import Output
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.pipeline.contract_files import (
    ContractName,
    OutputRecord,
    contract_path,
    contract_text,
    digest_in,
    record_path,
    record_text,
)
from psyclone_storage.pipeline.link_check import check_defined_once, check_links
from psyclone_storage.pipeline.separate_plans import FilePlan


def contract_outputs(
    plan: FilePlan, source: Path, folder: Path, target: Path, text: str
) -> Iterator[Output]:
    """Yield the record of an output with its `text`, and the contracts of its units.

    Raises:
        CompileError: `T099`, another file defines a unit, too.
    """
    raise_if_any(tuple(check_defined_once(plan.contracts, folder)))
    texts = {one.unit: contract_text(one) for one in plan.contracts}
    units = (ContractName(unit, plan.lines[unit], digest_in(one)) for unit, one in texts.items())
    record = OutputRecord(
        str(source),
        digest_of(read_source(source).text),
        str(target),
        digest_of(text),
        plan.root,
        str(folder),
        plan.promises,
        tuple(units),
        plan.used,
        plan.outside,
        plan.procedures,
    )
    yield Output(record_path(target), record_text(record))
    for unit, one in texts.items():
        yield Output(contract_path(folder, unit), one)


def run_link_check(files: tuple[Path, ...]) -> None:
    """Check the contracts of all files of a program, and print that they are met.

    Raises:
        CompileError: all conflicts.
    """
    raise_if_any(check_links(files))
    number = len(dict.fromkeys(files))
    print(f"{number} file{'' if number == 1 else 's'}: all contracts are met")
