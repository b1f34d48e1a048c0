"""Read generated layers, and report uses of data that are not held, and data held without use.

The check reads only the text, independently of planners and printers. A window is used between the
acquire that sets it and the release of its data. Acquired data are used, and released once. Nothing
is exchanged while it is held. Prefetched data were written in the other memory before, are not
held, and are next acquired in the target memory. A registry is queried for a storage before each
use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

CONTINUED = re.compile(r" *&\n *&? *")
ROUTINE = re.compile(r"^ *subroutine (\w+)\(.*?^ *end subroutine \1$", re.MULTILINE | re.DOTALL)
ACQUIRE = re.compile(
    r" *call (?P<owner>[\w%()]+)%acquire\((?:(?P<part>[\w%]+), )?(?P<space>space_\w+), "
    r"(?:access_(?P<access>\w+), )?(?P<window>\w+)(?:, may_share=\.true\.)?\)"
)
RELEASE = re.compile(
    r" *call (?P<owner>[\w%()]+)%release\((?:(?P<part>[\w%]+), )?(?P<space>space_\w+)"
    r"(?:, stay=\.true\.)?\)"
)
ACQUIRE_TABLE = re.compile(
    r" *call acquire_table\((?P<owner>[\w%]+), (?P<space>space_\w+), (?P<window>\w+)"
    r"(?:, alike=\.true\.)?\)"
)
RELEASE_TABLE = re.compile(
    r" *call release_table\((?P<owner>[\w%]+), (?P<space>space_\w+)(?:, alike=\.true\.)?\)"
)
PREFETCH = re.compile(r" *call (?P<owner>[\w%()]+)%prefetch\((?P<space>space_\w+)\)")
EXCHANGE = re.compile(r" *call (?P<owner>[\w%()]+)%halo_exchange(?:_start)?\(.*")
BEGIN = re.compile(
    r" *call (?:begin_exchange_of_strips\((?P<strips>\w+), .*|(?P<owner>\w+)%begin_exchange\(.*)"
)
END = re.compile(r" *call (?P<owner>\w+)%end_exchange\(.*")
LOOK_UP = re.compile(r" *(?P<storage>\w+) => storage_of\((?P<field>[\w%()]+)%\w+\)")
ACTIONS = (ACQUIRE, RELEASE, ACQUIRE_TABLE, RELEASE_TABLE, PREFETCH, LOOK_UP)
"""What can be left out of a layer one by one."""
STORAGE = re.compile(r"_storage(?:_\d+)?$")
OTHER_SPACE = {"space_host": "space_device", "space_device": "space_host"}


def routines_in(text: str) -> Iterator[list[str]]:
    """Yield the lines of each routine of a layer, none of which is continued."""
    for found in ROUTINE.finditer(CONTINUED.sub(" ", text)):
        yield found[0].split("\n")


@dataclass
class Held:
    """What is held: where, by which window, whether to write, and whether it was used since."""

    space: str
    window: str
    writes: bool
    used: bool = False


@dataclass
class Reading:
    """What is known at a line.

    Attributes:
        windows: the names of all windows of the routine.
        held: what is held, by what is asked for it.
        last: how what is not held any more was held last.
        coming: where what begins to be brought goes.
        fields: the field of each storage that a registry was asked for.
        exchanged: the storages that are told of an exchange under way.
        faults: what is wrong.
    """

    windows: frozenset[str]
    held: dict[str, Held] = field(default_factory=dict)
    last: dict[str, Held] = field(default_factory=dict)
    coming: dict[str, str] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    exchanged: set[str] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def read(self, line: str, before: str) -> None:
        """Note what a line does; `before` is the one before."""
        if found := ACQUIRE.fullmatch(line) or ACQUIRE_TABLE.fullmatch(line):
            self._acquire(found, before)
        elif found := RELEASE.fullmatch(line) or RELEASE_TABLE.fullmatch(line):
            self._release(found)
        elif found := PREFETCH.fullmatch(line):
            self._prefetch(found, before)
        elif found := LOOK_UP.fullmatch(line):
            self.fields[found["storage"]] = found["field"]
        elif found := BEGIN.fullmatch(line):
            self._begin(found["strips"] or found["owner"], before)
        elif found := END.fullmatch(line):
            self._note(found["owner"] not in self.exchanged, "ended, and has not begun", line)
            self.exchanged.discard(found["owner"])
        elif found := EXCHANGE.fullmatch(line):
            holding = {self.fields.get(one, one) for one in self.held}
            self._note(found["owner"] in holding, "exchanged while it is held", line)
        elif "::" not in line and not line.lstrip().startswith("!"):
            self._use(line)

    def end(self) -> None:
        """Note that the routine ends."""
        self.faults += [f"not released: {one}" for one in self.held]
        self.faults += [f"brought for nobody: {one}" for one in self.coming]
        self.faults += [f"still exchanged: {one}" for one in self.exchanged]

    def _acquire(self, found: re.Match[str], before: str) -> None:
        thing, line = named(found), found[0]
        self._note(thing in self.held, "acquired while it is held", line)
        self._note(self.coming.pop(thing, found["space"]) != found["space"],
                   "brought to the other side", line)  # fmt: skip
        self._note_asked(found["owner"], before, line)
        access = found.groupdict().get("access") or "read"
        self.held[thing] = Held(found["space"], found["window"], access != "read")

    def _release(self, found: re.Match[str]) -> None:
        thing, line = named(found), found[0]
        one = self.held.pop(thing, None)
        self._note(one is None or one.space != found["space"], "not held there", line)
        if one is not None:
            self._note(not one.used, "held for nothing", line)
            self.last[thing] = one

    def _prefetch(self, found: re.Match[str], before: str) -> None:
        thing, line = named(found), found[0]
        self._note(thing in self.held, "brought while it is held", line)
        last = self.last.get(thing)
        right = last is not None and last.writes and last.space == OTHER_SPACE[found["space"]]
        self._note(not right, "brought from where nobody has written it", line)
        self._note_asked(found["owner"], before, line)
        self.coming[thing] = found["space"]

    def _begin(self, storage: str, before: str) -> None:
        self._note_asked(storage, before, f"exchange of {storage}")
        self._note(storage in self.held, "exchanged while it is held", storage)
        self.exchanged.add(storage)

    def _note_asked(self, owner: str, before: str, line: str) -> None:
        """Note if a storage that a registry has was not asked for in the line before."""
        asked = LOOK_UP.fullmatch(before)
        is_asked = asked is not None and asked["storage"] == owner
        self._note(bool(STORAGE.search(owner)) and not is_asked, "not asked for", line)

    def _use(self, line: str) -> None:
        names = self.windows & set(re.findall(r"(?<!%)\b\w+", line))
        by_window = {one.window: one for one in self.held.values()}
        for name in sorted(names):
            self._note(name not in by_window, f"'{name}' is used and not held", line)
            if name in by_window:
                by_window[name].used = True

    def _note(self, wrong: bool, what: str, line: str) -> None:
        if wrong:
            self.faults.append(f"{what}: {line.strip()}")


def named(found: re.Match[str]) -> str:
    """Return what tells one thing that is held from all others."""
    return found.groupdict().get("part") or found["owner"]


def faults_in(lines: list[str]) -> list[str]:
    """Return what is wrong in a routine."""
    acquired = (ACQUIRE.fullmatch(line) or ACQUIRE_TABLE.fullmatch(line) for line in lines)
    reading = Reading(frozenset(found["window"] for found in acquired if found))
    for before, line in zip(["", *lines], lines, strict=False):
        reading.read(line, before)
    reading.end()
    return reading.faults


def check_windows(layers: Iterable[Path]) -> None:
    """See that nothing is wrong in any routine of generated layers."""
    texts = [path.read_text(encoding="utf-8") for path in layers]
    assert [one for text in texts for lines in routines_in(text) for one in faults_in(lines)] == []


def mutants_of(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield a routine without each action, and with each one that prefetches done otherwise."""
    for at, line in enumerate(lines):
        rest = [*lines[:at], *lines[at + 1 :]]
        if any(action.fullmatch(line) for action in ACTIONS):
            yield f"without {line.strip()}", rest
        if found := PREFETCH.fullmatch(line):
            other = OTHER_SPACE[found["space"]]
            yield (
                f"to the other side: {line.strip()}",
                [*lines[:at], line.replace(found["space"], other), *lines[at + 1 :]],
            )
            for early in range(at):
                use = ACQUIRE.fullmatch(lines[early]) or RELEASE.fullmatch(lines[early])
                if use and named(use) == named(found):
                    moved = [*rest[:early], *_with_look_up(lines, at), *rest[early:]]
                    yield f"too early, at {early}: {line.strip()}", moved


def _with_look_up(lines: list[str], at: int) -> list[str]:
    return lines[at - 1 : at + 1] if LOOK_UP.fullmatch(lines[at - 1]) else [lines[at]]
