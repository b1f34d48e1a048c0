"""Locations of files that belong to the package.

They are in the folder `share/` of an installed package, or at the top of a source checkout. In a
checkout, Fortran files generated from templates are updated when needed.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from pathlib import Path

from psyclone_storage.base.diagnostic import InternalError

_PACKAGE = Path(__file__).resolve().parents[1]


def shared_file(relative: str) -> Path:
    """Return the path of a file or folder of the package.

    `relative` starts with `config`, `examples` or `external`, such as
    `external/lfric_infrastructure`.

    Raises:
        InternalError: the file does not exist in this installation.
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
    """Update the files generated from templates; installed packages contain no templates."""
    script = external / "variants.py"
    if script.is_file():
        import runpy  # noqa: PLC0415 (lazy import: only a checkout has templates)

        with suppress(OSError):  # no permission to write to the checkout
            runpy.run_path(str(script))["refresh_variants"](external)
