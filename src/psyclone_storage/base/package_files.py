"""Locations of the files that the package contains.

They lie in the package's `share/` folder when it was installed from a wheel, and at the top of the
checkout when it is used from there.
"""

from __future__ import annotations

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
        path = root / relative
        if path.exists():
            return path
    raise InternalError(f"The installation in '{_PACKAGE}' lacks '{relative}'.")
