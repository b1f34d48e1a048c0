"""Names of LFRic that the runtime asks the library for, which imports nothing of the compiler."""

from __future__ import annotations

SOLVER_KIND = "r_solver"
"""The kind of columnwise operators."""

SPACE_OF_CELLS = "w3"
"""A space with one dof in each cell of the lowest order."""
