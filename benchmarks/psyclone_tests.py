"""Which of PSyclone's LFRic test algorithms that PSyclone accepts go through here.

    python benchmarks/psyclone_tests.py path/to/PSyclone

translates every algorithm of PSyclone's tests with the PSyclone of that checkout and with this
tool, with distributed memory and annexed dofs off, and prints those that PSyclone alone takes, with
what is said about them here. Those that are wrong, so that no compiler would take what is generated
or it would compute something else, are listed with the reason in `WRONG`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.config.load import load_settings
from psyclone_storage.config.locate import search_context
from psyclone_storage.pipeline.compile import make_compiler
from psyclone_storage.pipeline.request import CompileRequest

TESTS = "src/psyclone/tests/test_files/lfric"
_NOWHERE = "a name of the invoke is declared nowhere, under 'implicit none'"
_NO_VECTOR = "one field is passed for a vector of three or four"
WRONG: dict[str, str] = {
    "1.4.3_literal_depth_into_halos_invoke.f90": _NOWHERE,
    "1.5.1_single_invoke_write_multi_fs.f90": _NO_VECTOR,
    "14.16_disc_stencil_then_read.f90": "the extent of a stencil is declared as a real",
    "14.4.2_halo_vector_xory.f90": _NO_VECTOR,
    "14.4_halo_vector.f90": _NO_VECTOR,
    "15.18.1_builtins_reduction_fuse_error.f90": _NOWHERE,
    "15.7.3_setval_X_before_user_kern.f90": _NOWHERE,
    "20.0.1_cma_assembly_scalar.f90": _NOWHERE,
    "4.11_named_invoke_name_clash.f90": "the routine of the invoke has the name of a field",
    "4.5_multikernel_invokes.f90": _NOWHERE,
    "8.3_multikernel_invokes_vector.f90": _NO_VECTOR,
}


def main(argv: Sequence[str]) -> int:
    """Translate all, print what PSyclone alone accepts and return 1 if some of it is not listed."""
    parser = argparse.ArgumentParser(description="Compare with PSyclone on its own tests.")
    parser.add_argument("psyclone", type=Path)
    folder = parser.parse_args(argv).psyclone
    sys.path.insert(0, str(folder / "src"))
    kernels = folder / TESTS
    counts: Counter[str] = Counter()
    for path in sorted(kernels.glob("*.[fFxX]90")):
        if "call invoke" not in path.read_text(encoding="utf-8", errors="replace").lower():
            continue
        if not _peer_accepts(path, kernels):
            counts["refused by PSyclone"] += 1
            continue
        said = _ours(path, kernels)
        listed = WRONG.get(path.name, "")
        kind = "accepted by both" if not said else "wrong" if listed else "refused here"
        counts[kind] += 1
        if said:
            print(f"{path.name}: {said}" + (f"\n    {listed}" if listed else ""), flush=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["refused here"] else 0


def _peer_accepts(algorithm: Path, kernels: Path) -> bool:
    from psyclone.configuration import Config  # noqa: PLC0415
    from psyclone.generator import generate  # noqa: PLC0415

    Config.get().load(None)
    Config.get().api = "lfric"
    try:
        generate(str(algorithm), api="lfric", kernel_paths=[str(kernels)], distributed_memory=True)
    except Exception:  # noqa: BLE001 - whatever it is, PSyclone gives nothing
        return False
    return True


def _ours(algorithm: Path, kernels: Path) -> str:
    """Return what is wrong here, nothing if all is right."""
    settings = load_settings("", "COMPUTE_ANNEXED_DOFS=false", search_context({}))
    request = CompileRequest(api="lfric", distributed=True, directories=(kernels,))
    try:
        make_compiler(settings, request).compile_algorithm(algorithm)
    except CompileError as error:
        return "; ".join(f"{one.code} {one.message}" for one in error.problems[:2])
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
