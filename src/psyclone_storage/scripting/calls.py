"""Location of an error in a script: the active calls in user code.

User code is the script and the modules that it imports from any folder. It excludes this package,
Python itself and installed packages.
"""

from __future__ import annotations

import os
import site
from pathlib import Path

from psyclone_storage.base.diagnostic import Related
from psyclone_storage.base.records import dataclass
from psyclone_storage.base.source import SourceText, Span

_PACKAGE = Path(__file__).resolve().parents[1]
_SHOWN = 6


@dataclass(frozen=True, slots=True)
class ScriptCalls:
    """Active lines of user code, starting with the script and ending with the innermost call."""

    spans: tuple[Span, ...]

    @property
    def place(self) -> Span | None:
        """Innermost active line, or None."""
        return self.spans[-1] if self.spans else None

    @property
    def callers(self) -> tuple[Related, ...]:
        """Locations of the callers, innermost first; long lists are shortened."""
        outwards = self.spans[-2::-1]
        shown = outwards if len(outwards) <= _SHOWN else (*outwards[: _SHOWN - 1], outwards[-1])
        return tuple(Related(span, "called from here") for span in shown)


def script_calls(error: BaseException, script: SourceText) -> ScriptCalls:
    """Return the active lines of user code at the time when `error` was raised in `script`."""
    import traceback  # noqa: PLC0415 (only for errors)

    frames = traceback.extract_tb(error.__traceback__)
    names = [frame.filename for frame in frames]
    if script.name not in names:
        return ScriptCalls(())
    found = []
    for frame in frames[names.index(script.name) :]:
        source = _source_of(frame.filename, script)
        if source is not None and frame.lineno and source.has_line(frame.lineno):
            found.append(line_of(source, frame.lineno))
    return ScriptCalls(tuple(found))


def own_source(name: str) -> SourceText | None:
    """Return the text of the file `name` if it can be user code, else None."""
    path = Path(name)
    if not path.is_file() or path.resolve().is_relative_to(_PACKAGE):
        return None
    if any(path.resolve().is_relative_to(folder) for folder in _installed()):
        return None
    import linecache  # noqa: PLC0415 (only for errors)

    linecache.checkcache(name)
    text = "".join(linecache.getlines(name))
    return SourceText(os.path.relpath(name), text) if text else None


def line_of(source: SourceText, number: int) -> Span:
    """Return the location of line `number` without leading and trailing blanks."""
    start, text = source.start_of_line(number), source.line(number)
    return source.span(start + len(text) - len(text.lstrip()), start + len(text.rstrip()))


def _source_of(name: str, script: SourceText) -> SourceText | None:
    return script if name == script.name else own_source(name)


def _installed() -> list[Path]:
    """Return the folders of Python and of installed packages."""
    import sysconfig  # noqa: PLC0415 (only for errors)

    names = (*map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
             *site.getsitepackages(), site.getusersitepackages())  # fmt: skip
    return [Path(name).resolve() for name in names]
