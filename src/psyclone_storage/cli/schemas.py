"""The JSON Schemas of what this tool writes as JSON, and the option that prints one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psyclone_storage.base.package_files import shared_file

SCHEMAS = ("diagnostics", "schedules")


def schema_file(name: str) -> Path:
    """Return the file of one of `SCHEMAS`."""
    return shared_file(f"config/schemas/{name}.schema.json")


class PrintSchema(argparse.Action):
    """Prints the schema that is named, and ends the command, as `--version` does."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Print and leave."""
        sys.stdout.write(schema_file(str(values)).read_text(encoding="utf-8"))
        parser.exit()
