"""GOcean settings: loop bounds, paths to grid properties, and requirements of targets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.base.names import NameTable
from psyclone_storage.base.records import replace
from psyclone_storage.base.regex import regex
from psyclone_storage.config.settings import DirtyFlags, JointExchanges, Settings
from psyclone_storage.domains.gocean.rules import GoceanRules
from psyclone_storage.domains.gocean.words import current_spelling
from psyclone_storage.infrastructures.gocean import GridProperty
from psyclone_storage.ir.expr import Expr, Member
from psyclone_storage.ir.kernel import FIELD_ON_GRID, FIRST_INTERNAL, LAST_INTERNAL
from psyclone_storage.ir.rewrite import substituted
from psyclone_storage.languages.fortran.parse.reader import read_expression
from psyclone_storage.languages.fortran.parse.tokens import UnreadableError
from psyclone_storage.lowering.infrastructure import Infrastructure
from psyclone_storage.targets.halo_checks import with_halo_checks

_COMPONENT = regex(r"[a-z]\w*", re.IGNORECASE | re.ASCII)


def parse_loop_bound(text: str) -> Expr:
    """Return a loop bound of the settings as an expression.

    Raises:
        CompileError: `C004`, it is no Fortran expression.
    """
    try:
        return _with_parameters(text, {"{start}": FIRST_INTERNAL, "{stop}": LAST_INTERNAL})
    except UnreadableError as error:
        message = f"The loop bound '{text}' in the iteration spaces of the settings is no Fortran."
        hint = "Write a Fortran expression, such as '{stop}+1'."
        raise CompileError(Diagnostic("C004", message, hint=hint)) from error


@cache
def read_path(text: str) -> Expr:
    """Return the path from a field to a property of its grid, as an expression."""
    field, *members = text.split("%")
    if field != "{0}" or not all(map(_COMPONENT.fullmatch, members)):
        return _computed_path(text)
    path: Expr = FIELD_ON_GRID
    for member in members:
        path = Member(path, member)
    return path


def _computed_path(text: str) -> Expr:
    try:
        return _with_parameters(text, {"{0}": FIELD_ON_GRID})
    except UnreadableError as error:
        message = f"'{text}' in the grid properties of the settings is no Fortran."
        hint = "Write '{0}%path%to%it', where '{0}' is a field."
        raise CompileError(Diagnostic("C004", message, hint=hint)) from error


def _with_parameters(text: str, parameters: Mapping[str, Expr]) -> Expr:
    """Return Fortran text as an expression, with parameters in braces replaced by expressions."""
    names = NameTable(re.findall(r"[a-z]\w*", text, re.IGNORECASE))
    local = {names.fresh("parameter"): (hole, value) for hole, value in parameters.items()}
    for name, (hole, _) in local.items():
        text = text.replace(hole, name)
    return substituted(read_expression(text), {name: value for name, (_, value) in local.items()})


def properties_of_grids(settings: Settings) -> dict[str, GridProperty]:
    """Return the properties of grids by name."""
    return {current_spelling(name): one for name, one in settings.gocean.grid_properties.items()}


def grid_paths(settings: Settings) -> dict[str, Expr]:
    """Return the paths to the properties of grids by name."""
    return {name: read_path(one.path) for name, one in properties_of_grids(settings).items()}


def grid_ranks(settings: Settings) -> dict[str, int]:
    """Return the ranks of the properties of grids by name."""
    return {name: one.rank for name, one in properties_of_grids(settings).items()}


def gocean_rules(settings: Settings) -> GoceanRules:
    """Return the halo rules for the settings."""
    has_flags = settings.gocean.dirty_flags is not DirtyFlags.NONE
    overlapped = settings.joint_exchanges is JointExchanges.OVERLAPPED
    return GoceanRules(has_flags, overlapped or settings.gocean.split_exchanges)


def with_grid_halo_checks(plain: Infrastructure, settings: Settings) -> Infrastructure:
    """Return an infrastructure with the checks of halos that the settings request."""
    asked, every = settings.gocean.run_time_checks, settings.halo_check_interval
    return with_halo_checks(plain, gocean_rules(settings), asked, every)


def with_split_exchanges(settings: Settings) -> Settings:
    """Return settings for fields with separate start and end of exchanges."""
    return replace(settings, gocean=replace(settings.gocean, split_exchanges=True))
