"""Run the compiled corpus in several ways, one after the other, and write its values for each.

    mpirun -n 4 python run_corpus.py PROGRAM:FOLDER:DEVICE:ORDER ...

PROGRAM is a folder with what is compiled, FOLDER is where its values go. DEVICE may be empty, ORDER
is that of the threads of the emulated device.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path


def main() -> None:
    """Run in the ways that the command line asks for."""
    known, places = set(sys.modules), list(sys.path)
    for way in sys.argv[1:]:
        program, folder, device, order = way.split(":")
        # What one program has loaded, by names that all have, is not for the next.
        for name in set(sys.modules) - known:
            if not name.startswith(("psyclone_storage", "numpy", "mpi4py")):
                del sys.modules[name]
        sys.path[:] = [program, str(Path(program).parent), *places]
        os.environ["PSYCLONE_STORAGE_THREAD_ORDER"] = order
        os.environ.pop("ON_DEVICE", None)
        if device:
            os.environ["ON_DEVICE"] = device
        Path(folder).mkdir(exist_ok=True)
        os.chdir(folder)
        runpy.run_path(str(Path(program) / "run.py"))


if __name__ == "__main__":
    main()
