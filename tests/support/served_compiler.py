"""The command `psyclone-storage`, carried out by what has imported the whole compiler before."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import psyclone_storage
from psyclone_storage.cli.main import main
from served_commands import Call

WITHOUT = ("psyclone_storage.__main__", "psyclone_storage.runtime", "psyclone_storage.storage")
"""What no translation needs."""


def import_modules(name: str, folders: list[str]) -> None:
    """Import all modules of a package, whose folders are given."""
    for module in pkgutil.iter_modules(folders, f"{name}."):
        if module.name not in WITHOUT:
            imported = importlib.import_module(module.name)
            if module.ispkg:
                import_modules(module.name, list(imported.__path__))


import_modules("psyclone_storage", list(psyclone_storage.__path__))


def answer(call: Call) -> int:
    """Run the command."""
    sys.argv = ["psyclone-storage", *call.words]
    return main()
