"""What a reader of Python has to be told of an API: the words that lead to entries of metadata.

A front end knows a language and no domain. So an API says which of its words annotate arguments,
and how an annotation becomes an entry as kernels in Fortran have them.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass
from psyclone_storage.ir.types import ScalarType


@dataclass(frozen=True, slots=True)
class Annotated:
    """How the items of an annotation become those of an entry.

    Where there are `short` of them, the words `before` and `behind` are put around them.
    """

    short: int
    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """The words of an API in Python.

    `module` offers them, `real` is the type of the numbers that kernels compute with. An argument
    annotated by one of `annotations` becomes an `entry` of the component `arguments`; what the
    decorator is given are `components` of their own. Of `rows` the text is a list, as in
    `GO_STENCIL("000,011,000")`.
    """

    module: str
    real: ScalarType
    entry: str
    arguments: str
    components: tuple[str, ...]
    annotations: Mapping[str, Annotated]
    rows: str
