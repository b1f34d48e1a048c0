"""Locations of the files that the package contains.

They lie in the package's `share/` folder when it was installed from a wheel, and at the top of the
checkout when it is used from there. In a checkout, the Fortran files that follow from templates are
written when they are first needed, or when a template has changed.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path

from psyclone_storage.base.diagnostic import InternalError

_PACKAGE = Path(__file__).resolve().parents[1]


def shared_file(relative: str) -> Path:
    """Return the path of a file or folder that comes with the package.

    `relative` starts with `config`, `examples` or `external`, such as
    `external/lfric_infrastructure`.

    Raises:
        InternalError: the installation does not have it.
    """
    for root in (_PACKAGE / "share", _PACKAGE.parents[1]):
        if relative.startswith("external"):
            _refresh_variants(root / "external")
        path = root / relative
        if path.exists():
            return path
    raise InternalError(f"The installation in '{_PACKAGE}' lacks '{relative}'.")


@cache
def _refresh_variants(external: Path) -> None:
    """Write what follows from templates, where there are any: a wheel has none."""
    script = external / "variants.py"
    if script.is_file():
        import runpy  # noqa: PLC0415 (lazy import: only a checkout has templates)

        with suppress(OSError):  # no permission to write to the checkout
            runpy.run_path(str(script))["refresh_variants"](external)
