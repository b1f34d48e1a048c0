"""Names of an API for the Python reader that are converted to metadata entries.

A front end supports a language and does not depend on a domain. Each API therefore defines the
names for argument annotations, and how an annotation becomes a metadata entry as in Fortran.
"""

from __future__ import annotations

from collections.abc import Mapping

from psyclone_storage.base.records import dataclass, field
from psyclone_storage.ir.interface import Role
from psyclone_storage.ir.types import DataType, ScalarType


@dataclass(frozen=True, slots=True)
class Annotated:
    """Rule that converts the items of an annotation to the items of a metadata entry.

    - `short`: the number of items for which `before` and `behind` are added around them.

    - `head`: the first item of the entry.

    - `counted`: the annotation may have a number of components, which is added to `head`.

    - `types`: names of data types; the first one is the default.

    - `more`: names that may follow the items counted by `short`.
    """

    short: int = -1
    before: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()
    head: str = ""
    counted: bool = False
    types: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dialect:
    """Names of an API in Python.

    - `module`: the module that exports the names.

    - `real`: the type of real numbers in kernels.

    - `single`: the type of reals of 4 bytes if kernels may compute with these anywhere.

    - `entry`, `arguments`: an annotated argument becomes an `entry` of the metadata component
      `arguments`.

    - `annotations`: the conversion rule for each annotation.

    - `components`: metadata components given as decorator arguments.

    - `rows`: the name whose text argument is a list, as in `GO_STENCIL("000,011,000")`.

    - `keywords`: names that become items with a keyword.

    - `lists`: the entry type of each list component.

    - `ranges`: the ranges over which a kernel may loop, by role.

    - `of_points`: kernels are called for points of a grid, not for columns of cells.

    - `tables`: arrays that are available but are not arguments, by role.

    - `numbers`: available integers, by role.

    - `from_one`: roles of tables with elements that are counted from 0 only in Python.

    - `builtins`: names that can be called in invokes.

    - `types`: names with which an algorithm declares its variables.
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
    of_points: bool = False
    single: ScalarType | None = None
    tables: Mapping[str, Role] = field(default_factory=dict)
    from_one: frozenset[Role] = frozenset()
    numbers: Mapping[str, Role] = field(default_factory=dict)
    builtins: frozenset[str] = frozenset()
    types: Mapping[str, DataType] = field(default_factory=dict)
