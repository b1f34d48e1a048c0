"""Every diagnostic code and what it stands for.

The first letter names the room: P parsing, M metadata, S schedule, T transformation,
V verifier, G generation, R run time, C configuration, L command line. A code is never reused.
Each has at least one folder under `tests/errors/`.
"""

from __future__ import annotations

CODES: dict[str, str] = {
    "C001": "A settings file does not exist or cannot be read.",
    "C002": "A line of a settings file is neither a section, a key nor a comment.",
    "C003": "A key of a settings file is set twice.",
    "C004": "A value in a settings file is not what its key asks for.",
    "C005": "A settings file lacks something that it must hold.",
    "C006": "A section or key of a settings file is not known (a warning).",
    "C007": "A key of a settings file stands where it has no effect (a warning).",
    "C008": "An override of a setting does not name one key.",
    "C009": "A value in a settings file refers to another key.",
    "S101": "A call has another number of arguments than the metadata asks for.",
    "S102": "One object is passed twice to one kernel or built-in.",
    "S103": "A constant or an expression is passed for an argument that is written.",
    "S104": "Something that is no variable is passed where a variable is needed.",
    "S105": "The declared type of an actual argument is not what the metadata asks for.",
    "S106": "The declared rank or size of an actual argument is not what the metadata asks for.",
    "S107": "A stencil direction is no variable.",
    "S108": "A stencil extent, a direction or a halo depth is not a positive integer.",
    "S109": "An invoke mixes inter-grid kernels with others.",
}
