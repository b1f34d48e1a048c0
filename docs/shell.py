"""Shell completions and manual pages, generated from the options of the commands.

`files` returns the text of each by its name in `config/shell`; `pyproject.toml` defines where a
wheel installs them. Only this module needs shtab: the package contains the generated files, so
completions do not slow the start of a command (docs/design/layers-and-dependencies.md).
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

import shtab

from psyclone_storage import __version__
from psyclone_storage.cli import compiler_wrapper
from psyclone_storage.cli.compiler_wrapper import NAME
from psyclone_storage.cli.kern_options import _build_parser as build_kernel_parser
from psyclone_storage.cli.options import _build_parser as build_parser

PARSERS = (build_parser, build_kernel_parser)


def files() -> dict[str, str]:
    """Return the text of each file by its name."""
    texts = {}
    for build in PARSERS:
        parser = build()
        for action in parser._actions:  # noqa: SLF001 - argparse has no public way to its options
            if action.type is Path:
                action.complete = shtab.DIRECTORY if action.metavar == "DIR" else shtab.FILE  # type: ignore[attr-defined]
        texts[f"{parser.prog}.bash"] = shtab.complete(parser, "bash")
        texts[f"_{parser.prog}"] = shtab.complete(parser, "zsh")
        texts[f"{parser.prog}.1"] = "\n".join(_manual(parser)) + "\n"
    texts[f"{NAME}.1"] = "\n".join(_wrapper_manual()) + "\n"
    return {
        name: "\n".join(map(str.rstrip, text.splitlines())) + "\n" for name, text in texts.items()
    }


def _wrapper_manual() -> Iterator[str]:
    """Yield the lines of the manual page of the compiler wrapper, which has no options."""
    description = " ".join((compiler_wrapper.__doc__ or "").replace("`", "'").split())
    brief, _, rest = description.partition(". ")
    yield f'.TH {NAME.upper()} 1 "" "psyclone-storage {__version__}" "User Commands"'
    yield ".SH NAME"
    yield _escaped(f"{NAME} - {brief.partition(': ')[2]}")
    yield f".SH SYNOPSIS\n.B {_escaped(NAME)}\n\\fIcompiler words\\fR ..."
    yield f".SH DESCRIPTION\n{_escaped(rest)}\n.SH ENVIRONMENT"
    for name, meaning in compiler_wrapper.VARIABLES.items():
        yield f".TP\n\\fB{_escaped(name)}\\fR\n{_escaped(meaning)}"
    yield ".SH EXIT STATUS"
    yield "That of the compiler; 1: an error of the transformation."
    yield ".SH SEE ALSO"
    yield "psyclone\\-storage(1)"


def _manual(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the lines of a manual page in the macros of man(7)."""
    description = " ".join((parser.description or "").split())
    yield f'.TH {parser.prog.upper()} 1 "" "psyclone-storage {__version__}" "User Commands"'
    yield ".SH NAME"
    brief = re.split(r"[:,.]", description)[0]
    yield _escaped(f"{parser.prog} - {brief[0].lower()}{brief[1:]}")
    yield ".SH SYNOPSIS"
    (files_,) = parser._get_positional_actions()  # noqa: SLF001
    yield f".B {_escaped(parser.prog)}\n[\\fIoption\\fR ...] \\fI{files_.metavar}\\fR ..."
    yield ".SH DESCRIPTION"
    yield _escaped(description)
    for group in parser._action_groups:  # noqa: SLF001
        if group._group_actions:  # noqa: SLF001
            yield f'.SH "{_escaped((group.title or "").partition(" (")[0].upper())}"'
            yield from _options(group._group_actions)  # noqa: SLF001
    title, _, examples = (parser.epilog or "").partition("\n")
    yield f".SH {title.rstrip(':').upper()}\n.nf"
    yield _escaped(examples.rstrip())
    yield ".fi\n.SH EXIT STATUS"
    yield "0: no errors; 1: something to mend; 2: a defect of this tool."


def _options(actions: list[argparse.Action]) -> Iterator[str]:
    for action in actions:
        value = action.metavar or "|".join(map(str, action.choices or ()))
        value = " ".join(value) if isinstance(value, tuple) else value
        shown = f" \\fI{_escaped(str(value))}\\fR" if value and action.nargs != 0 else ""
        flags = ", ".join(f"\\fB{_escaped(flag)}\\fR{shown}" for flag in action.option_strings)
        positional = f"\\fI{value}\\fR"
        yield f".TP\n{flags or positional}"
        yield _escaped((action.help or "") % {"prog": ""})


def _escaped(text: str) -> str:
    """Return `text` as man(7) takes it: no line begins with a control character."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.MULTILINE)
