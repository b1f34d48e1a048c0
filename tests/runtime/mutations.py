"""Numbers places of generated layers, so that the running program may do something else at one.

Owns the change of the text, and what is made of what the program then says. A place asks
`lfric/mutation_mod.f90` whether to happen, how deep to exchange or where to stop; nothing else of
the layer is touched.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from runtime.programs import Run

EXCHANGE = re.compile(
    r"^(?P<indent> *)call (?P<what>[\w%()]+)%halo_exchange\((?:depth=)?(?P<depth>.*)\)$"
)
MARK = re.compile(
    r"^(?P<indent> *)call (?P<what>[\w%()]+)%set_(?P<state>(?:halo_)?dirty|clean)\(.*\)$"
)
SUM = re.compile(r"^(?P<indent> *)(?P<what>\w+) = \w+%get_(?:sum|min|max)\(\)$")
STOP = re.compile(r"^(?P<indent> *)(?P<what>loop\d+)_stop = (?P<bound>.*)$")
ROWS = re.compile(r"^(?P<indent> *)do (?P<what>[ij]) = (?P<start>.*), (?P<bound>.*%internal%.*)$")
MODULE = re.compile(r"^module \w+$")
ROUTINE = re.compile(r"^ *subroutine (\w+)")
USE = "  use mutation_mod, only: bound_of, depth_of, performs"

BOUNDS = (
    (r"(.*)%get_last_edge_cell\(\)", r"\1%get_last_halo_cell(1)", r"\g<0> - 1"),
    (r"(.*)%get_last_halo_cell\(1\)", r"\1%get_last_halo_cell(2)", r"\1%get_last_edge_cell()"),
    (
        r"(.*)%get_last_halo_cell\((\w+)\)",
        r"\1%get_last_halo_cell(min(\2 + 1, 3))",
        r"\1%get_last_halo_cell(max(\2 - 1, 1))",
    ),
    (r"(.*)%get_last_dof_halo\(1\)", r"\1%get_last_dof_halo(2)", r"\1%get_last_dof_owned()"),
    (
        r"(.*)%get_last_dof_halo\((\w+)\)",
        r"\1%get_last_dof_halo(min(\2 + 1, 3))",
        r"\1%get_last_dof_halo(max(\2 - 1, 1))",
    ),
    (r"(.*)%get_last_dof_owned\(\)", r"\1%get_last_dof_annexed()", r"\g<0> - 1"),
    (r"(.*)%get_last_dof_annexed\(\)", r"\1%get_last_dof_halo(1)", r"\1%get_last_dof_owned()"),
    (r".*%internal%[xy]stop", r"\g<0> + 1", r"\g<0> - 1"),
)
"""A bound of a loop, the next one further out and the next one further in."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place of a layer that can be changed.

    Attributes:
        number: the number that the program knows it by, from 1.
        algorithm: the algorithm whose layer it is in.
        name: the algorithm, the routine, what it is for and its place among the routine's places
            of that kind, such as `stencils/invoke_chain/x/2`.
        changes: what can be done to it: `drop`, `shorten`, `widen`, `narrow`. An exchange that is
            one level deep cannot be shortened.
        reason: what the comment before it says.
    """

    number: int
    algorithm: str
    name: str
    changes: tuple[str, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one mutation.

    Attributes:
        mutation: what was done to the place, and its name.
        reached: whether the program has done something else because of it.
        noticed: whether the answers have changed.
        reported: whether run-time checks of halos have found an error.
    """

    mutation: str
    reached: bool
    noticed: bool
    reported: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of places.

    Attributes:
        pattern: the lines it is, with what it is for as `what`.
        label: what tells its names from those of other kinds; `{0}` is what it is for.
        changes: what can be done to it.
        asking: the line that asks, from the match and the number.
    """

    pattern: re.Pattern[str]
    label: str
    changes: tuple[str, ...]
    asking: Callable[[re.Match[str], int], str]


def asking_exchange(match: re.Match[str], number: int) -> str:
    """Return an exchange that asks whether to happen, and how deep."""
    depth = f"depth_of({number}, {match['depth']})"
    call = f"call {match['what']}%halo_exchange(depth={depth})"
    return f"{match['indent']}if (performs({number})) {call}"


def asking_whether(match: re.Match[str], number: int) -> str:
    """Return a statement that asks whether to happen."""
    return f"{match['indent']}if (performs({number})) {match[0].lstrip()}"


def asking_where(match: re.Match[str], number: int) -> str:
    """Return a bound that asks where it is."""
    bound = match["bound"]
    for pattern, wider, narrower in BOUNDS:
        if found := re.fullmatch(pattern, bound):
            asked = f"bound_of({number}, {bound}, {found.expand(wider)}, {found.expand(narrower)})"
            return match[0].removesuffix(bound) + f"&\n      {asked}"
    raise AssertionError(f"no bound is next to {bound}")


EXCHANGES = Kind(EXCHANGE, "{0}", ("drop", "shorten"), asking_exchange)
MARKS = Kind(MARK, "mark({0})", ("drop",), asking_whether)
SUMS = Kind(SUM, "reduce({0})", ("drop",), asking_whether)
LOOPS = Kind(STOP, "{0}", ("widen", "narrow"), asking_where)
POINTS = Kind(ROWS, "loop over {0}", ("widen", "narrow"), asking_where)


def asking_how(match: re.Match[str], number: int) -> str:
    """Return an acquire that asks whether it brings values and whether it says that they change.

    The values of the field are on the other side before.
    """
    named = f"{match['access']}, {match['access']}, without_writing"
    asked = match[0].replace(match["access"], f"bound_of({number}, {named})")
    away = f"{match['indent']}call put_away({match['what']}, {match['space']})"
    brought = f"{match['indent']}if (.not. performs({number})) call spoil({match['window']})"
    return "\n".join((away, asked, brought))


ACQUIRE = (
    r"^(?P<indent> *)call (?P<what>[\w()]+)%acquire\((?P<space>\w+), (?P<access>access_{}), "
    r"(?P<window>\w+)(?:, may_share=\.true\.)?\)$"
)
READS = Kind(re.compile(ACQUIRE.format("read")), "hold({0})", ("drop",), asking_how)
WRITES = Kind(re.compile(ACQUIRE.format("write")), "hold({0})", ("narrow",), asking_how)
READ_WRITES = Kind(
    re.compile(ACQUIRE.format("read_write")), "hold({0})", ("drop", "narrow"), asking_how
)
HOLDS = (READS, WRITES, READ_WRITES)


def asking_for_table(match: re.Match[str], number: int) -> str:
    """Return an acquire of a table that asks whether code for the space is to read another one."""
    misled = f"{match['indent']}if (.not. performs({number})) call mislead({match['window']})"
    return f"{match[0]}\n{misled}"


ALIKE = r"(?:, alike=\.true\.)?"
TABLES = Kind(
    re.compile(
        r"^(?P<indent> *)call acquire_table\((?P<what>[\w%]+), \w+, (?P<window>\w+)"
        + ALIKE
        + r"\)$"
    ),
    "table({0})",
    ("drop",),
    asking_for_table,
)
RELEASES = Kind(
    re.compile(
        r"^(?P<indent> *)call (?P<what>[\w()%]+)%release\((?:[\w%]+, )?space_\w+"
        r"(?:, stay=\.true\.)?\)$"
    ),
    "release({0})",
    ("drop",),
    asking_whether,
)
TABLES_RELEASED = Kind(
    re.compile(r"^(?P<indent> *)call release_table\((?P<what>[\w%]+), space_\w+" + ALIKE + r"\)$"),
    "release_table({0})",
    ("drop",),
    asking_whether,
)
PREFETCHES = Kind(
    re.compile(r"^(?P<indent> *)call (?P<what>[\w()]+)%prefetch\(space_\w+\)$"),
    "prefetch({0})",
    ("drop",),
    asking_whether,
)
PROPERTIES = Kind(
    re.compile(
        r"^(?P<indent> *)call [\w%]+%grid%acquire\([\w%]+%grid%(?P<what>\w+), space_\w+, "
        r"(?P<window>\w+)\)$"
    ),
    "table({0})",
    ("drop",),
    asking_for_table,
)
USES = (RELEASES, TABLES_RELEASED, PREFETCHES, TABLES, PROPERTIES)
"""What stands around uses besides acquires of fields."""
BEGIN = re.compile(
    r"^(?P<indent> *)call (?P<what>\w+)%begin_exchange\((?P<inner>\[.*\]), (?P<depth>.*)\)$"
)


CALL = re.compile(
    r"(?:%acquire|\b(?:acquire|release)_table|\bbegin_exchange\w*|%set_\w+)\(.*?\)$",
    flags=re.DOTALL | re.MULTILINE,
)
PLAIN_CALL = re.compile(r"call ([\w()]+)%halo_exchange\(depth=")
BEGIN_STRIPS = re.compile(
    r"^(?P<indent> *)call begin_exchange_of_strips"
    r"\((?P<what>\w+), (?P<space>[\w()]+%vspace), (?P<depth>.*)\)$"
)
PLAIN_MARK = re.compile(r"(?<!field)%set_dirty\(\)$")
END = re.compile(r"^ *call (\w+)%end_exchange\((?:stay=\.true\.)?\)$")
BEGUN = re.compile(
    r"if \((performs\(\d+\))\) call (?:(\w+)%begin_exchange\(|begin_exchange_of_strips\((\w+),)"
)


def asking_around(match: re.Match[str], number: int) -> str:
    """Return what begins an exchange and asks whether to, and how much of the border it brings."""
    # No border at all is the next thing to one point of it.
    depth = f"depth_of({number}, {match['depth']} + 1) - 1"
    call = f"call {match['what']}%begin_exchange({match['inner']}, {depth})"
    return _after_putting_away(match, number, "2", call)


def asking_for_strips(match: re.Match[str], number: int) -> str:
    """Return what begins an exchange on a space and asks whether to, and how much it brings."""
    depth = f"depth_of({number}, {match['depth']})"
    call = f"call begin_exchange_of_strips({match['what']}, {match['space']}, {depth})"
    return _after_putting_away(match, number, match["depth"], call)


def _after_putting_away(match: re.Match[str], number: int, depth: str, call: str) -> str:
    """Return a call behind what leaves the values of the array on the device, if it is changed."""
    changed = f"depth_of({number}, {depth}) < {depth} .or. .not. performs({number})"
    away = f"if ({changed}) call put_away({match['what']}, on_host)"
    return f"{match['indent']}{away}\n{match['indent']}if (performs({number})) {call}"


def number_registered(layers: Iterable[Path]) -> list[Place]:
    """Number what layers ask of a registry, and their exchanges, which know nothing of it then."""
    layers = list(layers)
    places = number_places(layers, (EXCHANGES, AROUND, AROUND_STRIPS, *HOLDS))
    for path in layers:
        lines: list[str] = []
        begun: dict[str, str] = {}
        for line in path.read_text(encoding="utf-8").split("\n"):
            if begin := BEGUN.search(line):
                begun[begin[2] or begin[3]] = begin[1]
            changed = PLAIN_CALL.sub(r"call exchange_plainly(\1, ", line)
            changed = PLAIN_MARK.sub("%set_halo_dirty()", changed)
            if end := END.match(changed):
                changed = f"    if ({begun[end[1]]}) {changed.lstrip()}"
            lines.append(changed.replace(USE_HOLDS, f"{USE_HOLDS}, exchange_plainly, on_host"))
        path.write_text("\n".join(lines), encoding="utf-8")
    return places


def _joined(match: re.Match[str]) -> str:
    return re.sub(r" *&\n *", " ", match[0])


AROUND = Kind(BEGIN, "around({0})", ("drop", "shorten"), asking_around)
AROUND_STRIPS = Kind(BEGIN_STRIPS, "around({0})", ("drop", "shorten"), asking_for_strips)
USE_HOLDS = "  use away_mod, only: put_away, spoil, without_writing"
USE_TABLES = "  use misleading_mod, only: mislead"


def number_places(layers: Iterable[Path], kinds: tuple[Kind, ...] = (EXCHANGES,)) -> list[Place]:
    """Rewrite `layers` in place so that every place of `kinds` asks, and return the places."""
    found: list[Place] = []
    for path in layers:
        algorithm = path.stem.removesuffix("_psy").removesuffix("_alg_mod")
        lines = CALL.sub(_joined, path.read_text(encoding="utf-8")).split("\n")
        changed = list(_asking(lines, algorithm, found, kinds))
        path.write_text("\n".join(changed), encoding="utf-8")
        text = "\n".join(changed)
        if EXCHANGES in kinds:
            assert text.count("%halo_exchange(") == text.count("%halo_exchange(depth=depth_of(")
        if READS in kinds:
            # Properties of a grid are read only, and say of no access what it is.
            assert not re.search(r"%acquire\([^\n]*\baccess_(?!.*without_writing)|%acquire\(.*&$",
                                 text, re.MULTILINE)  # fmt: skip
        if TABLES in kinds:
            asked = len(re.findall(r"performs\(\d+\)\) call \S*(?:release|prefetch)", text))
            assert asked == len(re.findall(r"%release\(|%prefetch\(|\brelease_table\(", text))
            tables = len(re.findall(r"\bacquire_table\(|%grid%acquire\(", text))
            assert text.count("call mislead(") == tables
    return found


def _asking(
    lines: list[str], algorithm: str, found: list[Place], kinds: tuple[Kind, ...]
) -> Iterator[str]:
    """Yield lines that ask, and add their places to `found`."""
    routine, met = "", Counter[str]()
    for at, line in enumerate(lines):
        if opening := ROUTINE.match(line):
            routine = opening[1]
        matches = [(kind, match) for kind in kinds if (match := kind.pattern.match(line))]
        if not matches:
            yield line
            if MODULE.match(line):
                yield USE
                if READS in kinds:
                    yield USE_HOLDS
                if TABLES in kinds:
                    yield USE_TABLES
            continue
        ((kind, match),) = matches
        label = kind.label.format(match["what"].removesuffix("_proxy"))
        name = f"{algorithm}/{routine}/{label}"
        met[name] += 1
        unique = name if kind is LOOPS else f"{name}/{met[name]}"
        flat = kind in (EXCHANGES, AROUND_STRIPS) and match["depth"] == "1"
        changes = ("drop",) if flat else kind.changes
        reason = _comment_before(lines, at)
        found.append(Place(len(found) + 1, algorithm, unique, changes, reason))
        yield kind.asking(match, found[-1].number)


AROUND_A_PLACE = re.compile(
    r"^ *(?:\w+ => storage_of\(.*\)|if \(.*%is_dirty\(.*\)\) then|call .*begin_exchange\w*\(.*\))$"
)
"""What stands between a place and the comment that says why it is there."""


def _comment_before(lines: list[str], at: int) -> str:
    """Return the text of the comment before a line, or before what belongs to it."""
    while AROUND_A_PLACE.match(lines[at - 1]):
        at -= 1
    first = at
    while lines[first - 1].lstrip().startswith("! "):
        first -= 1
    text = " ".join(line.strip().removeprefix("! ") for line in lines[first:at])
    return text.removeprefix("Halo exchanges and loops ")


def lines_of(places: list[Place], without: frozenset[str] = frozenset()) -> list[str]:
    """Return the mutations to try but those `without`, and each algorithm without one."""
    algorithms = sorted({place.algorithm for place in places})
    plain = [f"0 none {name}\n" for name in algorithms]
    return plain + [
        f"{place.number} {change} {place.algorithm}\n"
        for place in places
        for change in place.changes
        if f"{change} {place.name}" not in without
    ]


KINDS_NAMED = ("mark", "reduce", "fill", "hold", "around", "table", "release",
               "release_table", "prefetch")  # fmt: skip


def kind_of(mutation: str) -> str:
    """Return what was done, such as `drop mark`."""
    change, place = mutation.split()
    label = place.split("/")[2].partition("(")[0]
    return f"{change} {label}" if label in KINDS_NAMED else change


def judge(run: Run, places: list[Place]) -> list[Outcome]:
    """Return what came of each mutation over all meshes."""
    lines = [line.split() for line in run.answers[0]]
    right = right_digests(run)
    reached: dict[str, bool] = {}
    noticed: dict[str, bool] = {}
    reported: dict[str, bool] = {}
    for mesh, number, change, algorithm, was_mutated, digest, *errors in lines:
        if change == "none":
            continue
        mutation = f"{change} {places[int(number) - 1].name}"
        reached[mutation] = reached.get(mutation, False) or was_mutated == "T"
        noticed[mutation] = noticed.get(mutation, False) or digest != right[mesh, algorithm]
        reported[mutation] = reported.get(mutation, False) or errors not in ([], ["0"])
    return [Outcome(one, reached[one], noticed[one], reported[one]) for one in reached]


def right_digests(run: Run) -> dict[tuple[str, str], str]:
    """Return what the answers of each algorithm come to on each mesh, if nothing is changed."""
    lines = [line.split() for line in run.answers[0]]
    return {
        (mesh, name): digest for mesh, _, change, name, _, digest, *_ in lines if change == "none"
    }
