"""The command that may die, as a process carries it out that has imported the whole compiler."""

from __future__ import annotations

import os

import served_compiler
from builds.dying_command import die_after
from served_commands import Call


def answer(call: Call) -> int:
    """Run the command, in a process of its own."""
    die_after(int(os.environ.get("DIES_AFTER", "-1")))
    return served_compiler.answer(call)
