"""Our own PSy layers, by the command line, run in this process.

Owns the one place where the differential tests touch psyclone-storage.
"""

from __future__ import annotations

from pathlib import Path

from command import run_command
from differential.peer import Answer, Mode


def our_answer(algorithm: Path, kernels: Path, mode: Mode, scratch: Path) -> Answer:
    """Return what psyclone-storage makes of `algorithm` under `mode`; it writes to `scratch`."""
    words = [
        *(str(algorithm), "-api", "lfric", "-d", str(kernels), "-oalg", "alg.f90"),
        *("-opsy", "psy.f90", "-dm" if mode.distributed else "-nodm"),
        "--config-opts",
        f"COMPUTE_ANNEXED_DOFS={str(mode.annexed).lower()} FUSE_BUILT_INS=false",
    ]
    outcome = run_command(words, scratch)
    if outcome.status != 0:
        return Answer(refusal=outcome.err)
    return Answer(layer=outcome.written["psy.f90"], algorithm=outcome.written["alg.f90"])
