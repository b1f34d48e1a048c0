"""Catalogue of all steps by name, and the text syntax of steps.

On the command line, steps are separated by semicolons. Options are in braces, separated by blanks:
`colour; openmp-parallel-do{schedule=dynamic}`. They are the fields of the step. A step without a
place is applied to every legal place; refusals are only recorded. For a step with a place, a
refusal is an error. A recipe in `RECIPES` expands to its steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import filterfalse
from operator import itemgetter

from psyclone_storage.analysis.footprints import Reasons
from psyclone_storage.base.diagnostic import CompileError, Diagnostic, raise_if_any
from psyclone_storage.base.names import did_you_mean, listed
from psyclone_storage.base.records import MISSING, dataclass, fields, replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.source import SourceText, Span
from psyclone_storage.ir.insertion import END
from psyclone_storage.ir.walk import find
from psyclone_storage.transform.asynchronous import OverlapExchange, SplitExchange, UnpinExchange
from psyclone_storage.transform.bounds import ConstantLoopBounds
from psyclone_storage.transform.colour import ColourLoop
from psyclone_storage.transform.fuse import FuseInKernel, FuseLoops
from psyclone_storage.transform.hoist import MoveInvariantAssignments, MoveInvariantBounds
from psyclone_storage.transform.interior import SplitInterior
from psyclone_storage.transform.jam import JamInKernel
from psyclone_storage.transform.kernel.arrays import ArraysToLoops, ArraysToRanges
from psyclone_storage.transform.kernel.cache_invariants import CacheInvariants
from psyclone_storage.transform.kernel.constants import SetKernelConstants
from psyclone_storage.transform.kernel.imports import ImportsToArguments
from psyclone_storage.transform.kernel.inline import InlineCall, InlinePointCall
from psyclone_storage.transform.kernel.inline_accumulating import InlineSummingCall
from psyclone_storage.transform.kernel.inline_module import InlineKernelModule, InlinePointKernel
from psyclone_storage.transform.kernel.inline_with_callees import (
    InlineCallingKernel,
    InlineProcedures,
)
from psyclone_storage.transform.kernel.intrinsics import IntrinsicsToCode
from psyclone_storage.transform.kernel.pass_bounds import MoveBoundsInside
from psyclone_storage.transform.kernel.routine import DeclareTarget, MakeAccRoutine
from psyclone_storage.transform.kernel.share import ShareInKernel
from psyclone_storage.transform.kernel.unswitch import UnswitchCall
from psyclone_storage.transform.move import MoveStatement
from psyclone_storage.transform.one_level import VersionForOneLevel
from psyclone_storage.transform.openacc import AccData, AccKernels, AccLoop, AccParallel
from psyclone_storage.transform.openacc_data import AccEnterData, AccUpdate
from psyclone_storage.transform.openmp import OpenParallelRegion, ParallelDo, ShareLoop
from psyclone_storage.transform.openmp_target import OpenTarget, TeamsDo
from psyclone_storage.transform.openmp_tasks import (
    AwaitTasks,
    MakeTask,
    OpenMaster,
    OpenSingle,
    TaskLoop,
)
from psyclone_storage.transform.outline import OutlineLoop
from psyclone_storage.transform.profile import AddProfileRegion
from psyclone_storage.transform.redundant import ComputeRedundantly
from psyclone_storage.transform.simd import VectoriseLoop
from psyclone_storage.transform.step import Step, check_present
from psyclone_storage.transform.strip_chain import StripMineChain
from psyclone_storage.transform.swap import SwapInKernel, SwapLoops
from psyclone_storage.transform.tile import (
    StripMineInKernel,
    StripMineLoop,
    TileColumns,
    TileInKernel,
    TileLoops,
)
from psyclone_storage.transform.workbench import Workbench

STEPS: Mapping[str, type[Step]] = {
    step.name: step
    for step in (
        ColourLoop,
        ComputeRedundantly,
        FuseLoops,
        MoveStatement,
        SplitExchange,
        SplitInterior,
        OverlapExchange,
        UnpinExchange,
        ParallelDo,
        ShareLoop,
        OpenParallelRegion,
        VectoriseLoop,
        OpenSingle,
        OpenMaster,
        TaskLoop,
        MakeTask,
        AwaitTasks,
        TeamsDo,
        OpenTarget,
        AccLoop,
        AccParallel,
        AccKernels,
        AccData,
        AccEnterData,
        AccUpdate,
        AddProfileRegion,
        ConstantLoopBounds,
        SwapLoops,
        TileLoops,
        TileColumns,
        OutlineLoop,
        VersionForOneLevel,
        StripMineLoop,
        StripMineChain,
        IntrinsicsToCode,
        ArraysToLoops,
        ArraysToRanges,
        InlineProcedures,
        InlineCall,
        InlinePointCall,
        InlineSummingCall,
        UnswitchCall,
        CacheInvariants,
        MoveBoundsInside,
        MoveInvariantAssignments,
        MoveInvariantBounds,
        SwapInKernel,
        StripMineInKernel,
        TileInKernel,
        FuseInKernel,
        JamInKernel,
        InlineKernelModule,
        InlinePointKernel,
        InlineCallingKernel,
        ImportsToArguments,
        MakeAccRoutine,
        DeclareTarget,
        ShareInKernel,
        SetKernelConstants,
    )
}

RECIPES: Mapping[str, str] = {
    "auto": (
        "inline-point-call; fuse; colour{tiling=true for_threads=true};"
        " inline-calling-kernel; inline-summing-call{aliases=true}; overlap; tile-columns;"
        " openmp-do; openmp-parallel; openmp-simd{for_sums=true}; unswitch; cache-invariants;"
        " outline{aliases=true}; version-one-level; strip-mine-chain"
    ),
    "openacc": (
        "colour; acc-routine; swap-loops{for_threads=true}; acc-loop{collapse=0}; acc-parallel;"
        " acc-enter-data"
    ),
}
"""Steps that are asked for by one name."""

OptionValue = str | int | bool | None

# The uids of a place, or the uid if there is only one.
_PlaceKey = str | tuple[str, ...]
"""A place of a step: the fields that name it, with their values."""

_OF_OPTIONS = frozenset({"T014", "T017", "T024", "T057"})
"""Reasons that lie in an option of a step, so that no other place would be better."""

_OPTION = "--apply"
"""What diagnostics call the text of the steps."""

_REQUEST = regex(r"\s*([\w-]+)\s*(?:\{([^{}]*)\})?\s*")


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A requested step with the values of some of its fields; `of_recipe` if from a recipe."""

    step: type[Step]
    values: tuple[tuple[str, OptionValue], ...]
    of_recipe: bool = False

    @property
    def has_place(self) -> bool:
        """True if all fields without a default have a value."""
        given = {name for name, _ in self.values}
        return all(name in given for name in _places(self.step))


@dataclass(frozen=True, slots=True)
class Refusal:
    """A step that could not be applied at a place, with the reasons.

    `in_vain` means that the user requested the step by name and it could not be applied anywhere.
    """

    step: Step
    reasons: Reasons
    in_vain: bool = False

    @property
    def uid(self) -> str:
        """The first place that the step names."""
        return str(getattr(self.step, _places(type(self.step))[0]))


def read_steps(text: str) -> tuple[StepRequest, ...]:
    """Return the steps that `text` requests.

    Raises:
        CompileError: `T040`, a step does not exist or has a syntax error; `T041`, an option does
            not exist or has an invalid value.
    """
    problems: list[Diagnostic] = []
    requests: list[StepRequest] = []
    for part, of_recipe, place in _parts(text):
        try:
            requests.append(replace(_read_step(part, place), of_recipe=of_recipe))
        except CompileError as error:
            problems += error.problems
    if problems:
        raise CompileError(*problems)
    return tuple(requests)


def without_moves(requests: Iterable[StepRequest]) -> tuple[StepRequest, ...]:
    """Return `requests` for targets that transfer data to devices by themselves.

    Recipes then do not enter data. An explicitly requested `acc-enter-data` step remains; its error
    explains the reason.
    """
    return tuple(one for one in requests if not (one.of_recipe and one.step is AccEnterData))


def apply_request(bench: Workbench, request: StepRequest) -> tuple[Refusal, ...]:
    """Apply a requested step once or at every legal place; return the refusals.

    Raises:
        CompileError: the step has a place and is illegal there, or its options are invalid.
    """
    values = dict(request.values)
    if request.has_place:
        bench.apply(_make(request.step, values))
        return ()
    tried: dict[_PlaceKey, tuple[Step, Reasons]] = {}
    while _one_more(bench, request.step, values, tried):
        pass
    return tuple(Refusal(step, reasons) for step, reasons in tried.values() if reasons)


def check_places(bench: Workbench, request: StepRequest) -> Reasons:
    """Return diagnostics for places that the schedule does not contain (T003).

    Some steps apply to the schedule itself, identified by its name, or to its end.
    """
    values, places = dict(request.values), _places(request.step)
    uids = [value for name, value in values.items() if name in places and isinstance(value, str)]
    schedule = bench.schedule
    always = (schedule.name, END)
    found = [uid for uid in uids if uid in always or find(schedule, uid) is not None]
    return check_present(schedule, *(uid for uid in uids if uid not in found))


def step_text(step: Step) -> str:
    """Return `step` in command-line syntax, with all options."""
    names = (*_places(type(step)), *_options(type(step)))
    given = ((name, getattr(step, name)) for name in names)
    values = " ".join(f"{name}={_value_text(value)}" for name, value in given if value is not None)
    return f"{step.name}{{{values}}}"


# ---------------------------------------------------------------------------- applying


def _one_more(
    bench: Workbench,
    kind: type[Step],
    values: Mapping[str, OptionValue],
    tried: dict[_PlaceKey, tuple[Step, Reasons]],
) -> bool:
    """Apply the step at the next legal place; return whether there was one."""
    names = _places(kind)
    keys: Iterator[_PlaceKey] = map(itemgetter(*names), kind.places(bench.schedule))
    for key in filterfalse(tried.__contains__, keys):
        place = dict(zip(names, (key,) if isinstance(key, str) else key, strict=True))
        if any(values.get(name, uid) != uid for name, uid in place.items()):
            continue
        step = _make(kind, {**values, **place})
        reasons = bench.check(step)
        tried[key] = step, reasons
        raise_if_any([reason for reason in reasons if reason.code in _OF_OPTIONS])
        if not reasons:
            bench.apply(step)
            return True
    return False


def _make(kind: type[Step], values: Mapping[str, OptionValue]) -> Step:
    return kind(**values)


def _places(kind: type[Step]) -> tuple[str, ...]:
    return tuple(item.name for item in fields(kind) if item.default is MISSING)  # type: ignore[arg-type]


def _options(kind: type[Step]) -> dict[str, OptionValue]:
    """Return the optional fields of a step with their defaults."""
    return {
        item.name: item.default
        for item in fields(kind)  # type: ignore[arg-type]
        if item.default is not MISSING
    }


# ---------------------------------------------------------------------------- reading


def _parts(text: str) -> Iterator[tuple[str, bool, Span]]:
    """Yield the steps in `text`, with recipes expanded.

    Each item contains the text, whether it comes from a recipe, and the source position.
    """
    source, start = SourceText(_OPTION, text), 0
    for part in text.split(";"):
        blanks = len(part) - len(part.lstrip())
        place = source.span(start + blanks, start + blanks + len(part.strip()))
        start += len(part) + 1
        of_recipe = part.strip() in RECIPES
        for step in RECIPES.get(part.strip(), part).split(";") if part.strip() else ():
            yield step, of_recipe, place


def _read_step(text: str, place: Span) -> StepRequest:
    found = _REQUEST.fullmatch(text)
    if found is None:
        hint = "Write it as 'name' or 'name{option=value option=value}', with ';' between steps."
        raise CompileError(Diagnostic("T040", f"'{text.strip()}' is not a step.", place, hint=hint))
    name, options = found[1], found[2] or ""
    if name not in STEPS:
        known = (*STEPS, *RECIPES)
        hint = did_you_mean(name, known) or f"There are {listed(known, 'and')}."
        if name.endswith("Trans"):
            hint = f"Scripts know it by that name, if at all: see '-s'. {hint}"
        raise CompileError(Diagnostic("T040", f"There is no step '{name}'.", place, hint=hint))
    kind = STEPS[name]
    return StepRequest(kind, tuple(_read_option(kind, word, place) for word in options.split()))


def _read_option(kind: type[Step], word: str, place: Span) -> tuple[str, OptionValue]:
    name, equals, text = word.partition("=")
    known = [*_places(kind), *_options(kind)]
    if name not in known or not equals:
        hint = did_you_mean(name, known) or f"There are {listed(known, 'and')}, with '='."
        message = f"The step '{kind.name}' has no option '{word}'."
        raise CompileError(Diagnostic("T041", message, _within(place, word), hint=hint))
    try:
        return name, _read_value(kind, name, text)
    except ValueError as error:
        raise CompileError(Diagnostic("T041", str(error), _within(place, word))) from error


def _within(place: Span, word: str) -> Span:
    """Return the first position of `word` in `place`, or `place` itself if it is absent."""
    at = place.text.find(word)
    start = place.start + at
    return place if at < 0 else Span(place.source, start, start + len(word))


def _read_value(kind: type[Step], name: str, text: str) -> OptionValue:
    """Return the value of an option.

    Raises:
        ValueError: the text is not a valid value; the message is for the user.
    """
    default = _options(kind).get(name, "")
    if isinstance(default, bool) or default is None:
        if text in ("true", "false"):
            return text == "true"
        raise _wrong_value(kind, name, text, "'true' or 'false'")
    if isinstance(default, int):
        if re.fullmatch(r"-?\d+", text):
            return int(text)
        raise _wrong_value(kind, name, text, "an integer")
    return text


def _wrong_value(kind: type[Step], name: str, text: str, wanted: str) -> ValueError:
    return ValueError(
        f"The option '{name}' of the step '{kind.name}' takes {wanted}, not '{text}'."
    )


def _value_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def explain_refusals(refusals: tuple[Refusal, ...]) -> Iterator[str]:
    """Yield lines that describe each refused step and the reasons."""
    for refusal in refusals:
        yield f"{step_text(refusal.step)}: refused"
        for reason in refusal.reasons:
            yield f"  {reason.code}: {reason.message}"
