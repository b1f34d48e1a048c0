"""Interpretation of one `meta_args` entry of a GOcean kernel as a `KernelArg` (spec 5.1).

`go_arg(access, space, stencil)` is a field on one type of grid point, or a scalar. `go_arg(access,
property)` is a grid property, which the generated code determines itself.
"""

from __future__ import annotations

from psyclone_storage.base.diagnostic import Diagnostic
from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.base.text import counted
from psyclone_storage.domains.gocean.words import (
    Tables,
    gocean_constructor,
    unknown_gocean_word,
    word_of,
)
from psyclone_storage.infrastructures.gocean import (
    FIELD_TYPES,
    LAYERS,
    POINTWISE,
    REAL,
    SCALARS,
    SINGLE,
    VALUE_WORDS,
)
from psyclone_storage.ir.expr import Literal
from psyclone_storage.ir.kernel import Access, ArgKind, GridStencil, KernelArg
from psyclone_storage.ir.parsed import MetadataItem
from psyclone_storage.ir.types import Intrinsic

_SMALL = ("north", "middle", "south")
_SIZES = (len(_SMALL), 5, 7, 9)
_ROW, _ROW_OF_BOX = regex(r"[0-9]{3}"), regex(r"[01]+")
_STENCIL_HINT = (
    "Write 'go_stencil(abc,def,ghi)': three rows from north to south, in each how many points are"
    " looked at to the west, in the middle and to the east."
)


def read_gocean_argument(
    item: MetadataItem, tables: Tables, problems: list[Diagnostic]
) -> KernelArg | None:
    """Return the argument for a `meta_args` entry; add errors to `problems` and return None."""
    if (constructor := gocean_constructor(item)) != "go_arg":
        message = f"An entry of 'meta_args' must be a 'go_arg(...)', not '{item.span.text}'."
        hint = "Kernels of LFRic need '-api lfric'." if constructor == "go_arg_type" else ""
        problems.append(Diagnostic("M001", message, item.span, hint=hint))
        return None
    layers = [one for one in item.items[2:] if word_of(one) == LAYERS]
    values = [one for one in item.items[2:] if word_of(one) in VALUE_WORDS]
    more = (*layers, *values)
    items = tuple(one for one in item.items if one not in more)
    if len(items) not in (2, 3) or len(layers) > 1 or len(values) > 1:
        message = f"A 'go_arg' has two or three items, not {len(items)}."
        hint = (
            "Write 'go_arg(access, space, stencil)' for a field or a scalar, and"
            " 'go_arg(access, property)' for a property of the grid; in Python,"
            " 'field[access, points, stencil]', 'scalar[access, type]', 'grid_property[property]'."
        )
        problems.append(Diagnostic("M003", message, item.span, hint=hint))
        return None
    access = tables.accesses.get(word_of(items[0]))
    if access is None:
        problems.append(unknown_gocean_word(items[0], "M005", "an access", tables.accesses))
    if len(items) == 2:
        return _read_property(item, access, tables, problems)
    found = _read_object(replace(item, items=items), access, problems)
    if not more or found is None:
        return found
    if found.kind is ArgKind.SCALAR:
        message = f"'{more[0].span.text}' is a property of fields, not of scalars."
        problems.append(Diagnostic("M102", message, more[0].span))
        return None
    type_ = VALUE_WORDS[word_of(values[0])] if values else REAL
    precision = type_.kind if type_ == SINGLE and type_.kind else ""
    return replace(
        found,
        layers=LAYERS if layers else "",
        intrinsic=type_.intrinsic,
        precision=precision,
    )


def _read_property(
    item: MetadataItem, access: Access | None, tables: Tables, problems: list[Diagnostic]
) -> KernelArg | None:
    _, wanted = item.items
    name = word_of(wanted)
    found = tables.properties.get(name)
    if name in FIELD_TYPES or name in SCALARS:
        message = f"'{item.span.text}' does not say how '{wanted.span.text}' is accessed."
        hint = "Add 'go_pointwise' or a 'go_stencil(...)'."
        problems.append(Diagnostic("M003", message, item.span, hint=hint))
        return None
    if found is None:
        what = "a property of the grid"
        problems.append(unknown_gocean_word(wanted, "M106", what, tables.properties))
        return None
    if access is not None and access.writes:
        message = f"'{wanted.span.text}' is a property of the grid and cannot be written."
        problems.append(Diagnostic("M107", message, item.items[0].span, hint="Write 'go_read'."))
        return None
    if access is None:
        return None
    return KernelArg(
        ArgKind.GRID_PROPERTY,
        found.intrinsic,
        access,
        rank=found.rank,
        grid_property=name,
        span=item.span,
    )


def _read_object(
    item: MetadataItem, access: Access | None, problems: list[Diagnostic]
) -> KernelArg | None:
    before = len(problems)
    space = word_of(item.items[1])
    stencil = _read_stencil(item.items[2], problems)
    if space in SCALARS:
        return _read_scalar(item, access, stencil, problems)
    if space not in FIELD_TYPES:
        what = "a type of grid point or of scalar"
        problems.append(unknown_gocean_word(item.items[1], "M101", what, (*FIELD_TYPES, *SCALARS)))
    if stencil is not None and access is Access.WRITE:
        message = "A field that is only written is not looked at, so it has no neighbours to read."
        hint = "Make it 'go_pointwise', or 'go_readwrite' if its neighbours are read."
        problems.append(Diagnostic("M011", message, item.items[2].span, hint=hint))
    if access is None or len(problems) > before:
        return None
    return KernelArg(
        ArgKind.FIELD, Intrinsic.REAL, access, space=space, stencil=stencil, span=item.span
    )


def _read_scalar(
    item: MetadataItem,
    access: Access | None,
    stencil: GridStencil | None,
    problems: list[Diagnostic],
) -> KernelArg | None:
    _, type_item, stencil_item = item.items
    if stencil is not None:
        message = "A scalar has no neighbours to look at."
        hint = "Write 'go_pointwise'."
        problems.append(Diagnostic("M102", message, stencil_item.span, hint=hint))
        return None
    if access is None:
        return None
    return KernelArg(ArgKind.SCALAR, SCALARS[word_of(type_item)], access, span=item.span)


def _read_stencil(item: MetadataItem, problems: list[Diagnostic]) -> GridStencil | None:
    """Return the stencil in `item`, or None if only the point itself is accessed."""
    if word_of(item) == POINTWISE:
        return None
    if gocean_constructor(item) != "go_stencil":
        problems.append(
            unknown_gocean_word(item, "M102", "a stencil", (POINTWISE, "go_stencil(...)"))
        )
        return None
    size = len(item.items)
    if size not in _SIZES:
        message = f"A stencil has three rows, or five, seven or nine as a box, not {size}."
        problems.append(Diagnostic("M102", message, item.span, hint=_STENCIL_HINT))
        return None
    rows = [_read_row(row, size, problems) for row in item.items]
    found = tuple(row for row in rows if row is not None)
    if len(found) != size:
        return None
    stencil = GridStencil(found)
    middle = found[size // 2]
    if middle[size // 2] > 1:
        what = f"The middle of a stencil is the point itself: 0 or 1, not {middle[size // 2]}."
        problems.append(Diagnostic("M102", what, item.items[size // 2].span, hint=_STENCIL_HINT))
        return None
    if not any(map(any, stencil.rows)):
        message = "A stencil looks at one point at least."
        hint = "Write 'go_pointwise' if it is the point itself."
        problems.append(Diagnostic("M102", message, item.span, hint=hint))
        return None
    return stencil if stencil.depth else None


def _read_row(item: MetadataItem, size: int, problems: list[Diagnostic]) -> tuple[int, ...] | None:
    text = item.expr.text if isinstance(item.expr, Literal) else ""
    of = _ROW if size == len(_SMALL) else _ROW_OF_BOX
    if item.keyword is None and len(text) == size and of.fullmatch(text):
        return tuple(map(int, text))
    what = counted(len(text), "digit") if text.isdigit() else "something else"
    if len(text) == size and text.isdigit():
        what = "other digits"
    wanted = "three digits" if size == len(_SMALL) else f"{size} digits, each 0 or 1"
    message = f"A row of a stencil is {wanted}, but '{item.span.text}' is {what}."
    problems.append(Diagnostic("M102", message, item.span, hint=_STENCIL_HINT))
    return None
