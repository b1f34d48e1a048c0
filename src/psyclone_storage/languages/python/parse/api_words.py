"""The vocabulary of an API for the Python reader: the words that become entries of metadata.

A front end knows a language and no domain. So an API defines which of its words annotate arguments,
and how an annotation becomes an entry in the form of Fortran kernels.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.types import DataType, ScalarType


@dataclass(frozen=True, slots=True)
class Annotated:
    """The rule that turns the items of an annotation into those of an entry.

    Where there are `short` of them, the words `before` and `behind` are put around them. A `head`
    is the first item; a number of components, where they may be `counted`, is put into it. If no
    type is written, the first of the words for `types` is the default.
    """

    short: int = -1
    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    head: str = ""
    counted: bool = False
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """The words of an API in Python.

    `module` offers them, `real` is the type of the numbers that kernels compute with. An argument
    annotated by one of `annotations` becomes an `entry` of the component `arguments`; the arguments
    of the decorator are `components` of their own. Of `rows` the text is a list, as in
    `GO_STENCIL("000,011,000")`. `keywords` are words that are items with a keyword; a component
    that is a list has entries of the type in `lists`. With `ranges` a kernel is called for more
    than a point: they are what it may loop over, `tables` the arrays it may read that are no
    arguments, `numbers` the integers, each by its role. Elements of tables whose roles are
    `from_one` count from 0 in Python. `builtins` are words that are called in invokes, `types`
    those with which an algorithm declares its variables.
    """

    module: str
    real: ScalarType
    entry: str
    arguments: str
    components: tuple[str, ...]
    annotations: Mapping[str, Annotated]
    rows: str = ""
    keywords: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)
    ranges: Mapping[str, Role] = field(default_factory=dict)
    tables: Mapping[str, Role] = field(default_factory=dict)
    from_one: frozenset[Role] = frozenset()
    numbers: Mapping[str, Role] = field(default_factory=dict)
    builtins: frozenset[str] = frozenset()
    types: Mapping[str, DataType] = field(default_factory=dict)
