"""Interpretation of one `meta_args` entry as a `KernelArg`, for both generations (spec 1.2).

A current entry has a data type: `arg_type(gh_field, gh_real, gh_inc, w1)`. An entry of 2019 has
none: `arg_type(gh_field, gh_inc, w1)`. In 2019 a scalar is given by its type: `arg_type(gh_real,
gh_read)`. The form of the entry determines the generation. This module checks single entries, and
`metadata_rules` checks their combination.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.names import listed
from psyclone_storage.base.records import dataclass, replace
from psyclone_storage.base.source import Span
from psyclone_storage.domains.lfric.metadata_access import check_access
from psyclone_storage.domains.lfric.metadata_words import (
    ALLOWED_DATA_TYPES,
    ARG_KINDS,
    DATA_TYPES,
    GOCEAN_HINT,
    MESHES,
    STENCILS,
    constructor_of,
    look_up_space,
    look_up_word,
    unknown_word,
)
from psyclone_storage.infrastructures.lfric import Limits, is_continuous
from psyclone_storage.ir import expr as ex
from psyclone_storage.ir import kernel as kern
from psyclone_storage.ir.keys import key_of
from psyclone_storage.ir.operators import Operator
from psyclone_storage.ir.parsed import MetadataItem
from psyclone_storage.ir.types import Intrinsic


@dataclass(frozen=True, slots=True)
class EntryContext:
    """Context of an entry: the settings, and properties of its kernel.

    - `iteration`: None if it is missing or wrong in the metadata.
    """

    limits: Limits
    accesses: Mapping[str, kern.Access]
    generation: kern.Generation
    iteration: kern.Iteration | None


@dataclass(frozen=True, slots=True)
class _Entry:
    """Parts of an entry: its kind, number of components, and items."""

    item: MetadataItem
    kind: kern.ArgKind
    vector: int
    data_type: MetadataItem | None
    access: MetadataItem
    rest: tuple[MetadataItem, ...]


@dataclass(frozen=True, slots=True)
class _Details:
    """Items after the access: function spaces, field options, and the rank of a scalar array."""

    space: str = ""
    space_from: str = ""
    stencil: kern.StencilShape | None = None
    stencil_item: MetadataItem | None = None
    mesh: kern.MeshRole | None = None
    rank: int = 0
    layers: str = ""
    data_per_dof: str = ""
    is_mask: bool = False


def generation_of(entry: MetadataItem) -> kern.Generation | None:
    """Return the generation of an entry, or None if both are possible."""
    if constructor_of(entry) != "arg_type":
        return None
    words = [ex.canonical(item.expr) for item in entry.items[:3]]
    words += [""] * (3 - len(words))
    if words[0] in DATA_TYPES:
        return kern.Generation.Y2019
    if words[0] in ("gh_scalar", "gh_scalar_array") or words[1] in DATA_TYPES:
        return kern.Generation.CURRENT
    if words[1].startswith("gh_") and len(entry.items) > 1:
        return kern.Generation.CURRENT if words[2].startswith("gh_") else kern.Generation.Y2019
    return None


def read_lfric_argument(
    item: MetadataItem, setting: EntryContext, problems: list[Diagnostic]
) -> kern.KernelArg | None:
    """Return the argument for a `meta_args` entry; add errors to `problems` and return None."""
    before = len(problems)
    entry = _take_apart(item, setting, problems)
    if entry is None:
        return None
    intrinsic = _read_intrinsic(entry, problems)
    access = look_up_word(entry.access, setting.accesses, "M005", "an access", problems)
    details = _read_details(entry, setting, problems)
    if intrinsic is None or access is None or details is None or len(problems) > before:
        return None
    arg = kern.KernelArg(
        kind=entry.kind,
        intrinsic=intrinsic,
        access=access,
        space=details.space,
        space_from=details.space_from,
        vector=entry.vector,
        stencil=details.stencil,
        mesh=details.mesh,
        rank=details.rank,
        layers=details.layers,
        data_per_dof=details.data_per_dof,
        is_mask=details.is_mask,
        span=item.span,
    )
    problems += _check_argument(arg, entry, details, setting.iteration)
    return arg if len(problems) == before else None


def _take_apart(
    item: MetadataItem, setting: EntryContext, problems: list[Diagnostic]
) -> _Entry | None:
    if (constructor := constructor_of(item)) != "arg_type":
        message = f"An entry of 'meta_args' must be an 'arg_type(...)', not '{item.span.text}'."
        hint = GOCEAN_HINT if constructor in ("go_arg", "arg") else ""
        problems.append(Diagnostic("M001", message, item.span, hint=hint))
        return None
    generation = generation_of(item) or setting.generation
    fixed = 3 if generation is kern.Generation.CURRENT else 2
    if len(item.items) < fixed:
        problems.append(_too_short(item, generation, fixed))
        return None
    named = _read_kind(item.items[0], generation, problems)
    if named is None:
        return None
    kind, vector = named
    data_type = item.items[1] if generation is kern.Generation.CURRENT else None
    if generation is kern.Generation.Y2019 and kind is kern.ArgKind.SCALAR:
        data_type = item.items[0]
    return _Entry(item, kind, vector, data_type, item.items[fixed - 1], item.items[fixed:])


def _too_short(item: MetadataItem, generation: kern.Generation, fixed: int) -> Diagnostic:
    needed = (
        "a kind, a data type and an access"
        if generation is kern.Generation.CURRENT
        else "a kind and an access"
    )
    return Diagnostic(
        "M003",
        f"An 'arg_type' needs at least {fixed} items, but this one has {len(item.items)}.",
        item.span,
        hint=f"Every argument needs {needed}.",
    )


def _read_kind(
    item: MetadataItem, generation: kern.Generation, problems: list[Diagnostic]
) -> tuple[kern.ArgKind, int] | None:
    """Return the kind of argument and its number of components."""
    if isinstance(item.expr, ex.Binary):
        return _read_vector(item, item.expr, problems)
    if generation is kern.Generation.Y2019 and ex.canonical(item.expr) in DATA_TYPES:
        return kern.ArgKind.SCALAR, 1
    kind = look_up_word(item, ARG_KINDS, "M002", "a kind of argument", problems)
    return None if kind is None else (kind, 1)


def _read_vector(
    item: MetadataItem, expr: ex.Binary, problems: list[Diagnostic]
) -> tuple[kern.ArgKind, int] | None:
    word, size = ex.canonical(expr.left), _integer(expr.right)
    if isinstance(expr.left, ex.Name) and word not in ARG_KINDS and word not in DATA_TYPES:
        problems.append(unknown_word(item, "M002", "a kind of argument", tuple(ARG_KINDS)))
        return None
    if expr.op is not Operator.TIMES:
        wrong = f"'{item.span.text}' joins kind and size with '{expr.op.spelling}' instead of '*'."
    elif isinstance(expr.left, ex.Name) and word != "gh_field":
        wrong = f"Only a field can be a vector, not a '{word}'."
    elif size is None or word != "gh_field":
        wrong = "The size of a field vector must be an integer literal behind the '*'."
    elif size < 2:
        wrong = f"A field vector has at least 2 components, not {size}."
    else:
        return kern.ArgKind.FIELD, size
    hint = "Write 'gh_field*n' with a literal number of components, 2 or more."
    problems.append(Diagnostic("M006", wrong, item.span, hint=hint))
    return None


def _integer(expr: object) -> int | None:
    """Return the value of an integer literal without a kind, or None."""
    return ex.whole_number(expr) if isinstance(expr, ex.Literal) and expr.kind is None else None


def _read_intrinsic(entry: _Entry, problems: list[Diagnostic]) -> Intrinsic | None:
    """Return the data type; in 2019 every field and operator was real."""
    if entry.data_type is None:
        return Intrinsic.REAL
    intrinsic = look_up_word(entry.data_type, DATA_TYPES, "M004", "a data type", problems)
    allowed = ALLOWED_DATA_TYPES[entry.kind]
    if intrinsic is None or intrinsic in allowed:
        return intrinsic
    words = listed(f"gh_{known.value}" for known in allowed)
    problems.append(
        Diagnostic(
            "M004",
            f"The data of this {entry.kind.value} cannot be of type '{entry.data_type.span.text}'.",
            entry.data_type.span,
            hint=f"Use {words}.",
        )
    )
    return None


def _read_details(
    entry: _Entry, setting: EntryContext, problems: list[Diagnostic]
) -> _Details | None:
    if not _has_right_length(entry, problems):
        return None
    limits = setting.limits
    match entry.kind:
        case kern.ArgKind.FIELD:
            space = look_up_space(entry.rest[0], limits, "M008", problems)
            return _read_options(entry.rest[1:], space or "", problems)
        case kern.ArgKind.OPERATOR | kern.ArgKind.COLUMNWISE_OPERATOR:
            to, back = (look_up_space(item, limits, "M013", problems) for item in entry.rest[:2])
            options = _read_operator_options(entry.rest[2:], problems)
            return replace(options, space=to or "", space_from=back or "")
        case kern.ArgKind.SCALAR_ARRAY:
            return _read_rank(entry.rest[0], problems)
    return _Details()


_MAPS = "After the access come the function space that it maps to and the one that it maps from."
_LENGTHS = {
    kern.ArgKind.FIELD: ("M008", 1, 6, "After the access comes its function space."),
    kern.ArgKind.OPERATOR: ("M013", 2, 4, _MAPS),
    kern.ArgKind.COLUMNWISE_OPERATOR: ("M013", 2, 2, _MAPS),
    kern.ArgKind.SCALAR: ("M014", 0, 0, "Its entry ends with the access."),
    kern.ArgKind.SCALAR_ARRAY: ("M007", 1, 1, "After the access comes its number of dimensions."),
}
"""Of each kind: the code, the least and greatest number of items after the access, a hint."""


def _has_right_length(entry: _Entry, problems: list[Diagnostic]) -> bool:
    code, least, most, hint = _LENGTHS[entry.kind]
    found = len(entry.rest)
    if least <= found <= most:
        return True
    surplus = entry.rest[most:]
    place = surplus[0].span.to(surplus[-1].span) if surplus else entry.item.span
    few = "too few" if found < least else "too many"
    message = f"The entry for this {entry.kind.value} has {few} items."
    problems.append(Diagnostic(code, message, place, hint=hint))
    return False


def _read_options(
    items: tuple[MetadataItem, ...], space: str, problems: list[Diagnostic]
) -> _Details | None:
    """Parse the options after the function space of a field."""
    stencils = _stencils_in(items)
    meshes = [item for item in items if item.keyword == "mesh_arg"]
    masks = [item for item in items if ex.canonical(item.expr) == _MASK and not item.keyword]
    known = ("mesh_arg", *_LAYERS, *_DATA)
    problems += [
        _unknown_option(item)
        for item in items
        if item not in (*stencils, *masks) and item.keyword not in known
    ]
    for repeated in (*stencils[1:], *meshes[1:], *masks[1:]):
        message = f"A field has one stencil, mesh or mask, so '{repeated.span.text}' is too many."
        problems.append(Diagnostic("M008", message, repeated.span))
    mesh = (
        look_up_word(_value_of(meshes[0]), MESHES, "M008", "a mesh", problems) if meshes else None
    )
    data_per_dof = _read_number(_DATA, items, problems)
    return _Details(
        space=space,
        stencil=_read_stencil(stencils[0], problems) if stencils else None,
        stencil_item=next(iter(stencils), None),
        mesh=mesh,
        layers=_read_number(_LAYERS, items, problems),
        data_per_dof="" if data_per_dof == "1" else data_per_dof,
        is_mask=bool(masks),
    )


def _read_operator_options(items: tuple[MetadataItem, ...], problems: list[Diagnostic]) -> _Details:
    """Parse the options after the function spaces of an operator."""
    stencils = _stencils_in(items)
    for item in items:
        if item in stencils[1:] or not (item in stencils or item.keyword in _LAYERS):
            message = f"'{item.span.text}' cannot follow the function spaces of an operator."
            hint = "Only one 'stencil(...)' and 'nlayers=...' can."
            problems.append(Diagnostic("M013", message, item.span, hint=hint))
    return _Details(
        stencil=_read_stencil(stencils[0], problems) if stencils else None,
        stencil_item=next(iter(stencils), None),
        layers=_read_number(_LAYERS, items, problems),
    )


def _stencils_in(items: tuple[MetadataItem, ...]) -> list[MetadataItem]:
    return [item for item in items if constructor_of(item) == "stencil" and not item.keyword]


_MASK = "cell_mask"
_LAYERS = ("nlayers", "nlevels")
_DATA = ("ndata",)


def _read_number(
    words: tuple[str, ...], items: tuple[MetadataItem, ...], problems: list[Diagnostic]
) -> str:
    """Parse `ndata="4"` or `nlayers="soil"`: a positive number or a name; '' if absent."""
    given = [item for item in items if item.keyword in words]
    for repeated in given[1:]:
        message = f"'{given[0].span.text}' says it already, so '{repeated.span.text}' is too many."
        problems.append(Diagnostic("M061", message, repeated.span))
    if not given:
        return ""
    item = given[0]
    value = item.expr.value if isinstance(item.expr, ex.Literal) else None
    text = key_of(value.strip()) if isinstance(value, str) else ""
    number = text.isdecimal() and int(text) > 0
    if number or (text[:1].isalpha() and text.isascii()):
        return str(int(text)) if number else text
    problems.append(
        Diagnostic(
            "M061",
            f"'{item.span.text}' gives neither a positive number nor a name.",
            item.span,
            hint=f'Write a number, {words[0]}="4", or a name for one that is known when the'
            f' model runs, {words[0]}="soil": in quotes, both.',
        )
    )
    return ""


def _value_of(item: MetadataItem) -> MetadataItem:
    """Return the value of `keyword=value`, with its location."""
    key, _, value = item.span.text.partition("=")
    start = item.span.start + len(key) + 1 + len(value) - len(value.lstrip())
    return replace(item, keyword=None, span=replace(item.span, start=start))


def _unknown_option(item: MetadataItem) -> Diagnostic:
    return Diagnostic(
        "M008",
        f"'{item.span.text}' cannot follow the function space of a field.",
        item.span,
        hint="What can is 'stencil(...)', 'mesh_arg=gh_coarse' or 'mesh_arg=gh_fine', 'cell_mask',"
        " 'nlayers' or 'ndata'.",
    )


def _read_stencil(item: MetadataItem, problems: list[Diagnostic]) -> kern.StencilShape | None:
    if len(item.items) != 1:
        surplus = item.items[1].span.to(item.items[-1].span) if item.items else item.span
        problems.append(
            Diagnostic(
                "M012",
                f"A stencil has a shape and nothing else, but this is '{item.span.text}'.",
                surplus,
                hint="The algorithm passes the extent, as an argument after the field.",
            )
        )
        return None
    return look_up_word(item.items[0], STENCILS, "M012", "the shape of a stencil", problems)


def _read_rank(item: MetadataItem, problems: list[Diagnostic]) -> _Details | None:
    rank = _integer(item.expr)
    if rank is not None and rank > 0:
        return _Details(rank=rank)
    message = f"A scalar array has a positive number of dimensions, not '{item.span.text}'."
    problems.append(Diagnostic("M007", message, item.span))
    return None


def _check_argument(
    arg: kern.KernelArg, entry: _Entry, details: _Details, iteration: kern.Iteration | None
) -> list[Diagnostic]:
    """Return diagnostics for the combination of items in one entry."""
    if (
        arg.kind is kern.ArgKind.FIELD
        and iteration is kern.Iteration.DOMAIN
        and is_continuous(arg.space)
    ):
        return [_continuous_on_domain(arg, entry.rest[0].span)]
    problems = []
    if iteration is not None:
        refused = check_access(arg, iteration, entry.access.span)
        problems += [refused] if refused else []
    if details.stencil_item is None:
        return problems
    place = details.stencil_item.span
    if arg.access is not kern.Access.READ:
        what = "An operator" if arg.kind.is_operator else "A field"
        message = f"{what} with a stencil can only be read, but has '{entry.access.span.text}'."
        hint = "A kernel must not write to the cells around its own. Use 'gh_read'."
        problems.append(Diagnostic("M011", message, entry.access.span, hint=hint))
    meaningless = _why_no_stencil(arg, iteration)
    if meaningless:
        message = f"A stencil has no meaning for this {arg.kind.value}."
        problems.append(Diagnostic("M012", message, place, hint=meaningless))
    return problems


def _continuous_on_domain(arg: kern.KernelArg, place: Span) -> Diagnostic:
    return Diagnostic(
        "M048",
        f"A kernel that operates on the domain cannot have a field on '{arg.space}'.",
        place,
        hint="Cells share dofs of this space, and only a loop over cell columns keeps them apart.",
    )


def _why_no_stencil(arg: kern.KernelArg, iteration: kern.Iteration | None) -> str:
    if iteration is not None and iteration.over_dofs:
        return "The kernel operates on dofs, which have no neighbours as cells do."
    if arg.kind.is_operator and iteration is not None and iteration.takes_halo_depth:
        return "Operators hold values to level 1 of the halo, and this kernel starts there."
    if arg.mesh is kern.MeshRole.FINE:
        return "The kernel is called for cells of the coarse mesh, and gets its fine cells in full."
    return ""
