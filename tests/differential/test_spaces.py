"""Fields of one named space are found through the kernels' metadata; wildcards stay apart."""

from differential.features import Corpus
from differential.psy_reader import read_layer
from differential.spaces import named_spaces

KERNEL = """
module blend_kernel_mod
  type, public, extends(kernel_type) :: blend_kernel_type
    type(arg_type) :: meta_args(5) = (/ &
      arg_type(GH_FIELD*2, GH_REAL, GH_WRITE, W3), & ! two
      arg_type(GH_FIELD, GH_REAL, GH_READ, Wtheta, STENCIL(XORY1D)), &
      arg_type(GH_SCALAR, GH_REAL, GH_READ), &
      arg_type(GH_OPERATOR, GH_REAL, GH_READ, W2, ANY_SPACE_1), &
      arg_type(GH_FIELD, GH_REAL, GH_READ, ANY_SPACE_1) /)
  end type
contains
  subroutine blend_code()
  end subroutine
end module
"""
ALGORITHM = """
use blend_kernel_mod, only : blend_kernel_type
call invoke(blend_kernel_type(v, theta, extents(1), way, 2.0, mass, x))
"""


def test_arguments_are_matched_with_their_metadata() -> None:
    corpus = Corpus({"alg": ALGORITHM}, {"blend_kernel_mod": KERNEL})
    assert named_spaces("alg", corpus) == {
        "v(1)%vspace": "space(w3)",
        "v(2)%vspace": "space(w3)",
        "theta%vspace": "space(wtheta)",
        "mass%fs_to": "space(w2)",
    }


def test_two_fields_of_one_space_are_one_to_the_reader() -> None:
    layers = [
        f"subroutine invoke_0(a, b)\ncall k_code({name}%vspace%get_ndf())\nend subroutine invoke_0"
        for name in ("a", "b")
    ]
    call, spaces = "call invoke_0(a, b)", {"a%vspace": "space(w3)", "b%vspace": "space(w3)"}
    apart = [read_layer(layer, call) for layer in layers]
    together = [read_layer(layer, call, spaces) for layer in layers]
    assert apart[0] != apart[1]
    assert together[0] == together[1]
