"""Data of a compilation that its script receives in addition to the program."""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.scripting.session import Emit
from psyclone_storage.scripting.settings import Compilation
from psyclone_storage.transform.workbench import Journal


@dataclass(frozen=True, slots=True)
class ScriptContext:
    """Services for a script in addition to the schedules.

    - `emit`: prints the generated program.

    - `keywords`: keyword arguments for the script's `trans`.

    - `journal`: records requests.

    - `words`: additional names of PSyclone modules.

    - `recipes_move`: false if recipes must not move data to devices, because another part does.
    """

    compilation: Compilation
    emit: Emit
    keywords: Mapping[str, object] = field(default_factory=dict)
    journal: Journal | None = None
    words: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    recipes_move: bool = True
