"""`ast.parse` for programs with threads.

CPython before 3.11.6 counts the depth of nested syntax trees once per interpreter. If the garbage
collector lets another thread parse in the meantime, `ast.parse` raises `SystemError`. Its own file,
because `tree` imports diagnostics, which the cached execution of an invoke does not need.
"""

from __future__ import annotations

import ast
import os
import threading
from typing import Literal, overload

_PARSING = threading.RLock()

if hasattr(os, "register_at_fork"):
    # A child must not inherit the lock from a thread that does not exist there.
    os.register_at_fork(
        before=_PARSING.acquire,
        after_in_parent=_PARSING.release,
        after_in_child=_PARSING.release,
    )


@overload
def parse_python(text: str) -> ast.Module: ...
@overload
def parse_python(text: str, mode: Literal["eval"]) -> ast.Expression: ...
def parse_python(text: str, mode: str = "exec") -> ast.AST:
    """Return the syntax tree of Python text; only one thread parses at a time.

    Raises:
        SyntaxError: the text is not valid Python.
    """
    with _PARSING:
        return ast.parse(text, mode=mode)
