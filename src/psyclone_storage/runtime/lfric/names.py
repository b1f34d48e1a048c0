"""LFRic names that the runtime passes to the Fortran library; imports no compiler module."""

from __future__ import annotations

SOLVER_KIND = "r_solver"
"""The kind of columnwise operators."""

SPACE_OF_CELLS = "w3"
"""A space with one dof in each cell of the lowest order."""
