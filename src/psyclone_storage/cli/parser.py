"""Option parser that reports errors as diagnostics."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import did_you_mean
from psyclone_storage.base.regex import regex

_CHOICE = regex(r"argument (\S+): invalid choice: '(.*)' \(choose from (.*)\)")
_AMBIGUOUS = regex(r"ambiguous option: (\S+) could match (.*)")

# What argparse says, and how it is said here.
_WORDING = (
    (r"argument (\S+): expected one argument", r"'\1' takes a value."),
    (r"argument (\S+): not allowed with argument (\S+)", r"'\1' contradicts '\2'."),
    (r"argument (\S+): invalid int value: (.*)", r"'\1' takes an integer, not \2."),
    (r"the following arguments are required: (.*)", r"No \1 is given."),
)


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Formatter of help text with the width of the terminal.

    The class of argparse would import `shutil` with three archive modules to determine the width,
    even for the check of an option.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


class Parser(argparse.ArgumentParser):
    """Option parser of all commands; an error raises `CompileError` `L001`."""

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Return the values of `words`; files may be before, between and after the options.

        Raises:
            CompileError: `L001`, for each unknown option, or for the first other error.
        """
        words = _with_marked_files(words)
        if not {"-h", "--help"}.intersection(words):
            # Else argparse lays out all options, for messages that are not its own here.
            self.usage = self.prog
        try:
            given, unknown = self.parse_known_intermixed_args(words)
        except CompileError as error:
            problems = self._strangers(words) or error.problems
            raise CompileError(*problems) from error
        if unknown:
            raise CompileError(*self._unknown(unknown))
        return given

    def _strangers(self, words: Sequence[str]) -> list[Diagnostic]:
        """Return diagnostics for unknown options in `words`, even if a file is missing.

        The parser may have read that file as the value of an unknown option.
        """
        for action in self._get_positional_actions():
            action.nargs, action.required = "*", False
        try:
            return self._unknown(self.parse_known_intermixed_args(words)[1])
        except CompileError:
            return []

    def error(self, message: str) -> NoReturn:
        """Raise `L001` for a message of argparse."""
        if choice := _CHOICE.match(message):
            flags, word, choices = choice.groups()
            text = f"'{word}' is no value of '{flags}'."
            guess = did_you_mean(word, re.findall(r"[\w.-]+", choices))
            self._fail(text, guess or f"Choose from {choices}.")
        if ambiguous := _AMBIGUOUS.match(message):
            word, choices = ambiguous.groups()
            self._fail(f"There is no option '{word}'.", f"There are {choices}.")
        for pattern, wording in _WORDING:
            if found := re.fullmatch(pattern, message):
                self._fail(found.expand(wording), self._help())
        self._fail(f"{message[0].upper()}{message[1:].rstrip('.')}.", self._help())

    def _unknown(self, words: Sequence[str]) -> list[Diagnostic]:
        """Return diagnostics for unknown words; other words may be values of unknown options."""
        flags = [word.partition("=")[0] for word in words if word.startswith("-")] or words
        names = [name for action in self._actions for name in action.option_strings]
        return [
            Diagnostic(
                "L001",
                f"There is no option '{flag}'.",
                hint=did_you_mean(flag, names) or self._help(),
            )
            for flag in flags
        ]

    def _help(self) -> str:
        return f"See '{self.prog} --help'."

    def _fail(self, text: str, hint: str) -> NoReturn:
        raise CompileError(Diagnostic("L001", text, hint=hint))


def _with_marked_files(words: Sequence[str]) -> list[str]:
    """Return `words` in which no file after `--` looks like an option.

    argparse drops `--` when options and files are mixed.
    """
    at = list(words).index("--") + 1 if "--" in words else len(words)
    files = (f"./{one}" if one.startswith("-") else one for one in words[at:])
    return [*words[:at], *files]


def _columns() -> int:
    """Return the width of the terminal, the value of `COLUMNS`, or 80."""
    said = os.environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno() if sys.__stdout__ else 1).columns or 80
    except (OSError, ValueError):
        return 80
