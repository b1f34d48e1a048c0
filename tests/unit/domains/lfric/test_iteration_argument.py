"""Which argument gives a loop its bounds: the order of spec 6.1, for all pairs of arguments."""

from __future__ import annotations

from itertools import product

import pytest

from lfric_schedules import field_arg, kernel, operator_arg
from psyclone_storage.domains.lfric.domain import LfricDomain
from psyclone_storage.domains.lfric.rules import iteration_argument
from psyclone_storage.ir.kernel import Access, KernelArg, MeshRole

READ, WRITE, INC, READWRITE = Access.READ, Access.WRITE, Access.INC, Access.READWRITE

# By the place in the order of the spec, each with the arguments that have it.
ORDER: tuple[tuple[KernelArg, ...], ...] = (
    (operator_arg("w3", "w2", WRITE), operator_arg("w2", "w2", READWRITE)),
    (field_arg("w3", READ, mesh=MeshRole.COARSE), field_arg("w2", INC, mesh=MeshRole.COARSE)),
    (field_arg("w0", INC), field_arg("w2h", WRITE), field_arg("any_w2", READWRITE),
     field_arg("w2htrace", WRITE), field_arg("w2", READWRITE, mesh=MeshRole.FINE)),
    (field_arg("any_space_1", INC), field_arg("any_space_9", WRITE)),
    (field_arg("w3", WRITE), field_arg("wtheta", READWRITE), field_arg("w2broken", WRITE),
     field_arg("any_discontinuous_space_2", READWRITE)),
    (field_arg("w0", READ), field_arg("w3", READ), field_arg("any_space_1", READ),
     field_arg("wchi", READ), field_arg("w3", READ, mesh=MeshRole.FINE)),
    (operator_arg("w3", "w2", READ),),
)  # fmt: skip
RANKED = [(rank, arg) for rank, row in enumerate(ORDER) for arg in row]
PAIRS = list(product(RANKED, repeat=2))


def test_these_are_all_pairs_of_21_arguments() -> None:
    assert len(PAIRS) == 441


@pytest.mark.parametrize("place", range(len(RANKED)))
def test_the_first_of_the_highest_rank_gives_the_bounds(place: int) -> None:
    domain = LfricDomain()
    for (rank, first), (other, second) in PAIRS[place * 21 : (place + 1) * 21]:
        made = kernel(first, second)
        wanted = 0 if rank <= other else 1
        assert (iteration_argument(made), domain.bounds_from(made)) == (wanted, wanted), made.args
