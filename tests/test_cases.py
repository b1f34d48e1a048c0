"""Every folder of `cases/`: the output of the command against reviewed files.

A folder contains the input of a user, and in `expected/` each file that the command writes, with
`stdout.txt` if it prints anything. The file `options` contains the command-line arguments. A case
without a folder `kernels` uses those of the corpus.
"""

from __future__ import annotations

from pathlib import Path

from command import run_folder
from golden import Compare

CORPUS = Path(__file__).parent / "corpus"
DEFAULT_OPTIONS = "-api {api} -d kernels -oalg alg.f90 -opsy psy.f90 alg.x90"


def test_case(case: Path, golden: Compare, tmp_path: Path) -> None:
    api = case.parent.name
    kernels = None if (case / "kernels").is_dir() else CORPUS / api / "kernels"
    done = run_folder(case, DEFAULT_OPTIONS.format(api=api), tmp_path, kernels)
    assert (done.status, done.err) == (0, "")
    golden(done.written | ({"stdout.txt": done.out} if done.out else {}))
