"""Own functions of the stand-in that take whole arrays, and universal ones that go to places.

Sources: "CuPy API reference", cupy.broadcast_to, cupy.where, cupy.sum and the other reductions,
cupy.ufunc.at. Of the universal functions those are here that the reference says have `at`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cupy_stand_in.array import full, launch, ndarray


def broadcast_to(array: Any, shape: tuple[int, ...]) -> Any:
    """Return a view of an array that repeats its elements."""
    given = array if isinstance(array, ndarray) else full((), array)
    return given._view(np.broadcast_to(given.pages, shape))


def where(condition: Any, one: Any, other: Any) -> Any:
    """Return elements of one array or of another."""
    return launch(np.where, condition, one, other)


def _reduction(function: Callable[..., Any]) -> Callable[[ndarray], ndarray]:
    return lambda array: launch(function, array)


sum = _reduction(np.sum)  # noqa: A001
prod = _reduction(np.prod)
max = _reduction(np.max)  # noqa: A001
min = _reduction(np.min)  # noqa: A001
all = _reduction(np.all)  # noqa: A001
any = _reduction(np.any)  # noqa: A001


class Universal:
    """Be a universal function."""

    def __init__(self, function: np.ufunc) -> None:
        self.function = function

    def __call__(self, *operands: Any) -> Any:
        return launch(self.function, *operands)

    def at(self, array: ndarray, places: ndarray, values: Any) -> None:
        """Do it to the elements at `places`, as often as each is there."""
        goal, function = array.pages, self.function

        def work(where_: Any, given: Any, _: Any) -> None:
            function.at(goal, where_, given)

        launch(work, places, values, array, infer=False)


add, subtract = Universal(np.add), Universal(np.subtract)
maximum, minimum = Universal(np.maximum), Universal(np.minimum)
