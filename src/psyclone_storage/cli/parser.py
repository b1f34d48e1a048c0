"""An option parser that reports what is wrong as this tool reports everything else."""

from __future__ import annotations

import argparse
from typing import NoReturn

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import did_you_mean


class Parser(argparse.ArgumentParser):
    """The option parser of every command; a mistake raises `CompileError` `L001`."""

    def error(self, message: str) -> NoReturn:
        flags = [flag for action in self._actions for flag in action.option_strings]
        unknown = message.removeprefix("unrecognized arguments: ").split()
        hint = did_you_mean(unknown[0], flags) if message.startswith("unrecognized") else ""
        text = message[0].upper() + message[1:].rstrip(".")
        raise CompileError(
            Diagnostic("L001", f"{text}.", hint=hint or f"See '{self.prog} --help'.")
        )
