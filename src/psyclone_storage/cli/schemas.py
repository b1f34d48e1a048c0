"""JSON Schemas of all JSON outputs, and the option that prints one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psyclone_storage.base.package_files import shared_file

SCHEMAS = ("contracts", "diagnostics", "links", "loops", "schedules", "transfers")


def schema_file(name: str) -> Path:
    """Return the file of one of `SCHEMAS`."""
    return shared_file(f"config/schemas/{name}.schema.json")


class PrintSchema(argparse.Action):
    """Option that prints the given schema and ends the command, like `--version`."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Print the schema and exit."""
        sys.stdout.write(schema_file(str(values)).read_text(encoding="utf-8"))
        parser.exit()
