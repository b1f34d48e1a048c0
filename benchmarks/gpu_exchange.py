"""Time steps on a device on two ranks, with the exchange before the loops and hidden behind them.

    mpirun -n 2 python benchmarks/gpu_exchange.py [--points N] [--repeats N]

`gpu_kernels.py` runs it and judges the figures. Rank 0 prints them as JSON, those of the slower
rank, in seconds of one step; `sums` are exact, of C on the host and of both ways on the device.
"""

from __future__ import annotations

import argparse
import json
from functools import partial

from gpu_kernels import add_sizes, fields_on, recipe, seconds_of, sizes_of, smoothed

from psyclone_storage.gocean import configure
from psyclone_storage.runtime.gocean import Field, exchange
from psyclone_storage.runtime.ranks import checked_ranks

HIDDEN = (
    "def trans(psy):\n    for schedule in psy.children:\n"
    '        schedule.apply("split-interior; overlap")\n'
)


def there_and_back(one: Field, other: Field) -> None:
    """Do two steps, so that every halo is needed after it has been changed."""
    smoothed(one, other)
    smoothed(other, one)


def main() -> None:
    """Compute in all ways and print."""
    parser = argparse.ArgumentParser(description="Time exchanges that loops hide.")
    add_sizes(parser)
    sizes = sizes_of(parser.parse_args())
    found: dict[str, float] = {}
    sums: list[str] = []
    ranks = checked_ranks(None)
    with recipe(HIDDEN) as script:
        for name, target, recipe_, exchanged in (
            ("loops", "cuda", None, False),
            ("", "c", None, True),
            ("one after the other", "cuda", None, True),
            ("hidden", "cuda", script, True),
        ):
            configure(target=target, script=recipe_, distributed=exchanged)
            device = "gpu" if target == "cuda" else None
            fields = fields_on(device, sizes.points, 2, 0 if exchanged else ranks.size)
            there_and_back(*fields)
            if exchanged:
                sums.append(fields[1].sum(reproducible=True).hex())
            if name:
                ranks.wait_for_all()
                took = seconds_of(partial(there_and_back, *fields), sizes.repeats) / 2.0
                found[name] = max(ranks.gathered(took))
        took = seconds_of(partial(exchange, fields[:1]), sizes.repeats)
        found["exchange"] = max(ranks.gathered(took))
    if ranks.rank == 0:
        print(json.dumps({**found, "sums": sums}))


if __name__ == "__main__":
    main()
