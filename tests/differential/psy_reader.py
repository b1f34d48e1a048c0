"""Read the text of a PSy layer, whichever tool wrote it, into its normal form.

Owns the meaning of the statements: which are set-up (they give names their values), which are the
schedule (loops, exchanges, flags, reductions). No convention about the names of variables is
relied on: a dofmap is what `get_whole_dofmap` returned, a reduction is what a loop accumulates.
What it cannot place is an error, so that nothing is compared by not being seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from differential.normal_form import (
    Event,
    Exchange,
    Flag,
    KernelCall,
    Loop,
    Reduction,
    Routine,
    Start,
    Update,
)
from differential.statements import (
    Assign,
    Branch,
    Call,
    Do,
    If,
    Other,
    Statement,
    Subroutine,
    logical_lines,
    read_subroutines,
    split_list,
)
from differential.values import canonical_expression, resolve, with_one_mesh

_INDEX = "@"
_REDUCED = re.compile(r"(\w+)%get_(sum|min|max)\(\)")
_DECLARATION = re.compile(r"((?:type|class|real|integer|logical) ?\(.*?\)) ?(?:,.*?)?:: ?(.*)")
_WHOLE_SECTION = re.compile(r"\((?::,)*:\)$")
_DIRECTION = re.compile(r"([xy])_direction")
_RENAME = re.compile(r"(\w+) ?=> ?(\w+)")
_HOUSEKEEPING = re.compile(r"(allocate|deallocate|nullify) ?\(")


def read_layer(
    layer: str, algorithm: str, spaces: Mapping[str, str] | None = None
) -> dict[str, Routine]:
    """Return the routines of a PSy layer by name.

    Args:
        layer: the text of the PSy layer.
        algorithm: the generated algorithm, whose calls say what the dummies stand for.
        spaces: `rho%vspace` -> `space(w3)` for the fields whose space has a name; a routine that
            maps between meshes has two spaces of each name and ignores them.

    Raises:
        ValueError: a statement that the reader cannot place, or a routine that is never called.
    """
    calls = dict(_invoke_calls(algorithm))
    uses = (line for line in logical_lines(layer) if line.startswith("use "))
    renamed = {local: name for line in uses for local, name in _RENAME.findall(line)}
    routines = {}
    for subroutine in read_subroutines(layer):
        if subroutine.name not in calls:
            raise ValueError(f"the algorithm does not call '{subroutine.name}'")
        one_mesh = "get_mesh_map" not in layer
        known = _Known(one_mesh, spaces if one_mesh and spaces else {}, renamed)
        reader = _RoutineReader(subroutine, calls[subroutine.name], known)
        routines[subroutine.name] = reader.routine()
    return routines


def _invoke_calls(algorithm: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for line in logical_lines(algorithm):
        call = re.search(r"\bcall (invoke_?\w*) ?\((.*)\)$", line)
        if call:
            yield call[1], split_list(call[2])
        elif bare := re.search(r"\bcall (invoke_\w*)$", line):
            yield bare[1], ()


@dataclass(frozen=True, slots=True)
class _Known:
    """What may be taken for the same: all fields' meshes, the fields of a space, used names."""

    one_mesh: bool
    spaces: Mapping[str, str]
    renamed: Mapping[str, str]

    def canonical(self, text: str) -> str:
        """Return resolved `text` with what is the same spelled in one way."""
        if self.one_mesh:
            text = with_one_mesh(text)
        for asked, space in self.spaces.items():
            text = re.sub(rf"(?<![\w%)]){re.escape(asked)}\b", space, text)
        return _WHOLE_SECTION.sub("", text)


class _RoutineReader:
    """Walk through one routine; the table of values grows on the way."""

    def __init__(self, subroutine: Subroutine, actuals: tuple[str, ...], known: _Known) -> None:
        if len(actuals) != len(subroutine.dummies):
            raise ValueError(f"'{subroutine.name}' has other dummies than its call has actuals")
        self._subroutine = subroutine
        self._known = known
        self._values = {
            dummy: resolve(actual, {})
            for dummy, actual in zip(subroutine.dummies, actuals, strict=True)
        }
        self._values.update(known.renamed)
        self._accumulated = _accumulated_names(subroutine.body)
        self._by_direction: dict[str, dict[str, str]] = {}
        self._partial_sums: dict[str, str] = {}
        self._nesting = 0

    def routine(self) -> Routine:
        """Return the normal form of the routine."""
        events = tuple(self._events(self._subroutine.body))
        for partial, total in self._partial_sums.items():
            events = tuple(_renamed(event, partial, total) for event in events)
        return Routine(self._subroutine.name, self._argument_types(), events)

    def _argument_types(self) -> dict[str, str]:
        types = {}
        for declaration in self._subroutine.declarations:
            match = _DECLARATION.fullmatch(declaration)
            for name in split_list(match[2]) if match else ():
                bare = re.match(r"\w+", name)
                if match and bare and bare[0] in self._subroutine.dummies:
                    types[self._values[bare[0]]] = match[1].replace(" ", "")
        return types

    # -- statements -----------------------------------------------------------------------------

    def _events(self, body: Iterable[Statement]) -> Iterator[Event]:
        for statement in body:
            match statement:
                case Assign():
                    yield from self._assignment(statement)
                case Call():
                    yield from self._call(statement)
                case Do():
                    yield from self._loop(statement)
                case If():
                    yield from self._branches(statement)
                case Other(text) if _HOUSEKEEPING.match(text):
                    pass
                case Other(text):
                    raise ValueError(f"unknown statement '{text}'")

    def _assignment(self, statement: Assign) -> Iterator[Event]:
        reduced = _REDUCED.fullmatch(statement.value.replace(" ", ""))
        if reduced:
            total = self._text(statement.target)
            self._partial_sums[self._values[f"{reduced[1]}%value"]] = total
            yield Reduction(total, reduced[2])
        elif statement.target in self._accumulated:
            value = canonical_expression(self._text(statement.value))
            yield Start(self._text(statement.target), value)
        else:
            self._assign(statement.target, statement.value)

    def _assign(self, target: str, value: str) -> None:
        target = target.replace(" ", "")
        if "(" in target and re.search(r"[(,]:|,:", target):
            target = target[: target.index("(")]
        self._values[target] = resolve(value, self._values)

    def _call(self, call: Call) -> Iterator[Event]:
        owner, _, method = call.name.replace(" ", "").rpartition("%")
        if not owner:
            yield KernelCall(method, self._texts(call.arguments))
            return
        field = self._text(owner)
        match method:
            case "halo_exchange":
                yield Exchange(field, self._depth(call.arguments), guarded=False)
            case "set_dirty":
                yield Flag(field)
            case "set_clean":
                yield Flag(field, self._depth(call.arguments))
            case _:
                self._result_argument(field, method, call.arguments)

    def _result_argument(self, owner: str, method: str, arguments: tuple[str, ...]) -> None:
        # A method that is called as a subroutine returns its result in its last argument; sizes
        # between are dimensions that the result's own declaration repeats.
        *given, result = arguments
        what = self._texts(given[:2])
        self._values[result] = f"{owner}%{method}({','.join(what)})"

    def _loop(self, loop: Do) -> Iterator[Event]:
        if not _is_schedule(loop, self._accumulated):
            self._set_up_in_loop(loop)
            return
        start, stop = (canonical_expression(self._text(bound)) for bound in (loop.start, loop.stop))
        self._values[loop.index] = _INDEX
        yield Loop(start, stop, tuple(self._loop_body(loop)))
        del self._values[loop.index]

    def _loop_body(self, loop: Do) -> Iterator[KernelCall | Update]:
        for statement in loop.body:
            match statement:
                case Call(name, arguments):
                    yield KernelCall(name, self._texts(arguments))
                case Assign(target, value):
                    yield Update(self._text(target), canonical_expression(self._text(value)))
                case _:
                    raise ValueError(f"a loop holds '{statement}'")

    def _set_up_in_loop(self, loop: Do) -> None:
        self._nesting += 1
        self._values[loop.index] = f"{_INDEX}{self._nesting}"
        for event in self._events(loop.body):
            raise ValueError(f"a set-up loop holds '{event}'")
        del self._values[loop.index]
        self._nesting -= 1

    def _branches(self, construct: If) -> Iterator[Event]:
        guarded = list(self._guarded_exchange(construct))
        yield from guarded
        for arm in () if guarded else _chosen_arms(construct):
            direction = self._direction(arm)
            assignments = [item for item in arm.body if isinstance(item, Assign)]
            if len(assignments) < len(arm.body):
                raise ValueError(f"'{arm.condition}' guards more than assignments")
            for statement in assignments:
                choice = self._by_direction.setdefault(statement.target, {})
                choice[direction] = self._text(statement.value)
                spelled = ",".join(f"{key}:{choice[key]}" for key in sorted(choice))
                self._values[statement.target] = f"by_direction({spelled})"

    def _direction(self, arm: Branch) -> str:
        """Return the direction that an arm is for; `else` after `x` is `y`."""
        found = re.fullmatch(r"(\.not\.\()?(.*?)==(.*?)\)?", arm.condition.replace(" ", ""))
        named = found and _DIRECTION.fullmatch(self._text(found[3]))
        if not found or not named:
            raise ValueError(f"unknown condition '{arm.condition}'")
        return {"x": "y", "y": "x"}[named[1]] if found[1] else named[1]

    def _guarded_exchange(self, construct: If) -> Iterator[Event]:
        asked = re.fullmatch(r"(.*)%is_dirty\((.*)\)", construct.arms[0].condition)
        if asked:
            field, depth = self._text(asked[1]), self._depth((asked[2],))
            for event in self._events(construct.arms[0].body):
                if event != Exchange(field, depth, guarded=False):
                    raise ValueError(f"the guard of '{field}' to '{depth}' guards '{event}'")
                yield Exchange(field, depth, guarded=True)

    # -- text -----------------------------------------------------------------------------------

    def _text(self, text: str) -> str:
        return self._known.canonical(resolve(text, self._values))

    def _texts(self, texts: Iterable[str]) -> tuple[str, ...]:
        return tuple(canonical_expression(self._text(text)) for text in texts)

    def _depth(self, arguments: tuple[str, ...]) -> str:
        # The kind of the default integer is no difference: `2_i_def` levels are `2` levels.
        (depth,) = arguments
        depth = re.sub(r"^depth ?= ?|_i_def\b", "", depth)
        return canonical_expression(self._text(depth))


def _accumulated_names(body: Iterable[Statement]) -> frozenset[str]:
    """Return the scalars that a loop assigns from themselves: the reduction variables."""
    names = set()
    for statement in body:
        if isinstance(statement, Do):
            for inner in statement.body:
                if isinstance(inner, Assign) and re.search(
                    rf"(?<![\w%]){re.escape(inner.target)}(?![\w(%])", inner.value
                ):
                    names.add(inner.target)
    return frozenset(name for name in names if name.isidentifier())


def _is_schedule(loop: Do, accumulated: frozenset[str]) -> bool:
    """Tell a loop that does the invoke's work from one that fills a basis array."""
    return any(
        (isinstance(inner, Call) and "%" not in inner.name)
        or (isinstance(inner, Assign) and inner.target in accumulated)
        or (isinstance(inner, Assign) and f"({loop.index})" in inner.target.replace(" ", ""))
        for inner in loop.body
    )


def _chosen_arms(construct: If) -> list[Branch]:
    """Return the arms that choose something; one that only reports an error does not."""
    return [arm for arm in construct.arms if not all(_reports(item) for item in arm.body)]


def _reports(statement: Statement) -> bool:
    match statement:
        case Call(name):
            return name == "log_event"
        case Other(text):
            return text.startswith("error stop")
    return False


def _renamed(event: Event, partial: str, total: str) -> Event:
    """Return `event` with the variable that a rank accumulates called as the global result is."""
    match event:
        case Start(variable, value) if variable == partial:
            return Start(total, value)
        case Loop(start, stop, body):
            return Loop(start, stop, tuple(_renamed_update(item, partial, total) for item in body))
    return event


def _renamed_update(item: KernelCall | Update, partial: str, total: str) -> KernelCall | Update:
    if isinstance(item, Update) and item.target == partial:
        return Update(
            total, re.sub(rf"(?<![\w%]){re.escape(partial)}(?![\w(%])", total, item.value)
        )
    return item
