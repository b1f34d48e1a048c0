"""Statements side by side that come under one directive, for all steps that open a region."""

from __future__ import annotations

from collections.abc import Collection

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.ir.directive import Directive
from psyclone_storage.ir.schedule import Compound, DirectiveRegion, Loop, Schedule, Statement
from psyclone_storage.ir.walk import (
    path_to,
    place_near,
    replaced,
)
from psyclone_storage.transform.halos import without_halos
from psyclone_storage.transform.step import Reasons, missing, under_directive


def between(schedule: Schedule, first: str, last: str) -> tuple[Statement, ...]:
    """Return the statements from `first` to `last`, with both, if they are in one body.

    What is derived is not counted.
    """
    bare = without_halos(schedule)
    path = path_to(bare, first)
    around = path[-2] if len(path) > 1 else bare
    if not path or not isinstance(around, Schedule | Compound):
        return ()
    places = {item.uid: place for place, item in enumerate(around.body)}
    if last not in places:
        return ()
    return around.body[places[first] : places[last] + 1]


def check_block(
    schedule: Schedule,
    first: str,
    last: str,
    *,
    around: Collection[Directive] = (),
    inside: Collection[Directive] = (),
) -> Reasons:
    """Return why the statements from `first` to `last` cannot come under a directive.

    They must follow one another (T003, T023), be loops or constructs (T027), and stand under no
    directives but those of `around` and hold none but those of `inside` (T007).
    """
    if problems := missing(schedule, first, last):
        return problems
    block = between(schedule, first, last)
    if not block:
        message = f"'{first}' and '{last}' do not stand one after the other."
        return (Diagnostic("T023", message, place_near(schedule, first)),)
    reasons: list[Diagnostic] = []
    for item in block:
        reasons += under_directive(schedule, item.uid, around=around, inside=inside)
        if not isinstance(item, Loop | DirectiveRegion):
            message = f"'{item.uid}' is no loop, and threads would all do it."
            reasons.append(Diagnostic("T027", message, place_near(schedule, item.uid)))
    return tuple(reasons)


def enclosed(schedule: Schedule, last: str, made: DirectiveRegion) -> Schedule:
    """Return `schedule` with the construct `made` in the place of all that is in it.

    `last` is the last of the statements in it; what is derived is dropped.
    """
    bare = without_halos(schedule)
    first, *others = between(bare, made.body[0].uid, last)
    for item in others:
        bare = replaced(bare, item.uid)
    return replaced(bare, first.uid, made)
