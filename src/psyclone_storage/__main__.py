"""Run the compiler with `python -m psyclone_storage`; the command line itself lives in `cli`."""

import sys

from psyclone_storage.cli.main import command

if __name__ == "__main__":
    sys.exit(command())
