"""PSyclone as a command that scripts of examples call as they call `psyclone-storage`."""

from __future__ import annotations

from pathlib import Path

from psyclone.generator import main

from differential.peer import remember_what_is_parsed
from served_commands import Call

remember_what_is_parsed()


def answer(call: Call) -> int:
    """Pass the words of a script on to PSyclone, in the form that PSyclone knows."""
    words = list(call.words)
    if "--schedule" in words:
        return 0
    algorithm = next(word for word in words if word.endswith(".x90"))
    if "--output-dir" in words:
        place = words.index("--output-dir")
        stem = str(Path(words[place + 1]) / algorithm.removesuffix(".x90"))
        words[place : place + 2] = ["-oalg", f"{stem}.f90", "-opsy", f"{stem}_psy.f90"]
    place = words.index("--apply")
    assert words[place + 1] == "", "a step of ours"
    del words[place : place + 2]
    if "-api" not in words:
        words = ["-api", "lfric", *words]
    main(["-l", "output", *words])
    return 0
