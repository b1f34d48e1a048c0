"""The code of procedures that others call, by their names and by those of interfaces."""

from __future__ import annotations

import pytest

from psyclone_storage.base.source import SourceText
from psyclone_storage.ir.types import Intrinsic, ScalarType
from psyclone_storage.languages.fortran.parse.called import read_called

TEXT = """\
module tools_mod
  interface size_of
    module procedure size_of_one, size_of_many
  end interface
  interface lost
    module procedure elsewhere
  end interface
contains
  real(8) function size_of_one(x)
    real, intent(in) :: x
    size_of_one = x
  end function
  pure function size_of_many(x) result(found)
    real, intent(in) :: x(:)
    integer :: found
    found = size(x)
  end function
  subroutine show(x)
    real :: x
  end subroutine show
end module tools_mod
"""


def read(name: str) -> dict[str, str]:
    return {
        code.name: result for code, result in read_called(SourceText("t", TEXT), "Tools_mod", name)
    }


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("show", {"show": ""}),
        ("SIZE_OF_ONE", {"size_of_one": "size_of_one"}),
        ("size_of", {"size_of_one": "size_of_one", "size_of_many": "found"}),
        ("lost", {}),
        ("nothing", {}),
    ],
)
def test_procedures_behind_a_name(name: str, found: dict[str, str]) -> None:
    assert read(name) == found


def test_another_module_has_none() -> None:
    assert read_called(SourceText("t", TEXT), "other_mod", "show") == ()


def test_a_result_is_declared_also_where_the_head_declares_it() -> None:
    ((code, result),) = read_called(SourceText("t", TEXT), "tools_mod", "size_of_one")
    declared = code.declared(result)
    assert declared is not None
    assert declared.type == ScalarType(Intrinsic.REAL, "8")
    assert code.dummies == ("x",)
    assert len([line for line in code.body if line]) == 1
