"""What a compilation tells its script besides the program."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.scripting.session import Emit
from psyclone_storage.scripting.settings import Compilation
from psyclone_storage.transform.workbench import Journal


@dataclass(frozen=True, slots=True)
class ScriptContext:
    """What a script can ask for beyond the schedules.

    `emit` prints what a program becomes. `keywords` are what the script's `trans` is called with
    besides the program. What it asks for is noted in `journal`. `words` are what PSyclone's
    modules hold besides. Recipes do not bring data to devices where something else does that:
    `recipes_move` is false then.
    """

    compilation: Compilation
    emit: Emit
    keywords: Mapping[str, object] = field(default_factory=dict)
    journal: Journal | None = None
    words: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    recipes_move: bool = True
