"""Write the modules that are other modules for another kind of values.

    python kinds.py            rewrite them
    python kinds.py --check    change nothing; fail and name what is out of date

Fortran 2008 has no generic types, so a field of 32-bit reals is the text of one of 64-bit reals
with other names and kinds. The modules on the left are written by hand, those on the right follow
from them; a build finds both as they lie here and needs no Python.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).parent
_NO_KIND = "  use, intrinsic :: iso_fortran_env, only: real64\n"

DERIVED: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("field/field_real64_mod.f90", "field/field_real32_mod.f90", {"64": "32"}),
    ("operator/operator_real64_mod.f90", "operator/operator_real32_mod.f90", {"64": "32"}),
    ("scalar/scalar_real64_mod.f90", "scalar/scalar_real32_mod.f90", {"64": "32"}),
    (
        "field/field_real64_mod.f90",
        "field/integer_field_mod.f90",
        {
            "field_real64_": "integer_field_",
            "real(real64)": "integer(i_def)",
            "0.0_real64": "0_i_def",
            "es24.16e3": "i0",
            "64-bit reals": "integers",
            _NO_KIND: "",
        },
    ),
    (
        "scalar/scalar_real64_mod.f90",
        "scalar/integer_scalar_mod.f90",
        {
            "scalar_real64_": "integer_scalar_",
            "real(real64)": "integer(i_def)",
            "64-bit reals": "integers",
            _NO_KIND: "  use constants_mod, only: i_def\n",
        },
    ),
    (
        "field/field_vector_mod.f90",
        "field/r_solver_field_vector_mod.f90",
        {
            "kind r_def.": "kind r_solver.",
            "field_vector_": "r_solver_field_vector_",
            "type(field_": "type(r_solver_field_",
            "i_def, r_def\n  use field_mod, only: field_proxy_type, field_type\n": (
                "i_def, r_def, r_solver\n"
            ),
            "  use vector_mod": (
                "  use r_solver_field_mod, only: r_solver_field_proxy_type, r_solver_field_type\n"
                "  use vector_mod"
            ),
            "real(p, r_def)": "real(p, r_solver)",
            "real(q, r_def)": "real(q, r_solver)",
            "real(scalar, r_def)": "real(scalar, r_solver)",
        },
    ),
)
"""The module by hand, the one that follows, and what to exchange for what, in this order."""


def main(words: list[str]) -> int:
    """Rewrite or check; return the exit status."""
    stale = [path for path, text in outputs() if not path.is_file() or path.read_text() != text]
    if words == ["--check"]:
        sys.stdout.writelines(f"{path.relative_to(HERE)} is out of date\n" for path in stale)
        return 1 if stale else 0
    for path, text in outputs():
        path.write_text(text)
    return 0


def outputs() -> Iterator[tuple[Path, str]]:
    """Yield the path and the text of each module that follows from another."""
    for first, second, exchanged in DERIVED:
        text = (HERE / first).read_text()
        for old, new in exchanged.items():
            if old not in text:
                raise SystemExit(f"'{old}' is not in {first}: {second} cannot follow from it")
            text = text.replace(old, new)
        yield HERE / second, text


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
