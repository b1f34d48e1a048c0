"""What `--explain` says of transfers between the host and a device."""

from __future__ import annotations

from psyclone_storage.coherence.explain import explain_transfers
from psyclone_storage.transform.openacc import AccKernels
from psyclone_storage.transform.openacc_data import AccEnterData, AccUpdate
from unit.analysis.small import cells
from unit.transform.benches import bench


def test_each_update_says_who_needs_it_and_who_made_the_copy_stale() -> None:
    """The device writes u, the host reads it and writes v, the device reads that."""
    work = bench(
        cells("u write w3"),
        cells("v write w3", "u read w3"),
        cells("w write w3", "v read w3"),
    )
    for step in (AccKernels("loop1", "loop1"), AccKernels("loop3", "loop3")):
        work.apply(step)
    work.apply(AccEnterData(work.schedule.name))
    title, entered, *updates = explain_transfers(work.schedule).rstrip().split("\n\n")
    assert title == "small: 3 updates between host and device"
    assert entered == "u, v, w: copied to the device, unless they are there already"
    lines = [update.splitlines() for update in updates]
    assert sorted(lines) == [
        [
            "u, before loop2: to the host",
            "  needed:  'k2_type' uses it there",
            "  stale:   'k1_type' changes the device's copy",
        ],
        [
            "v, before acc-kernels(loop3): to the device",
            "  needed:  'k3_type' uses it there",
            "  stale:   'k2_type' changes the host's copy",
        ],
        [
            "v, before loop2: to the host",
            "  needed:  'k2_type' uses it there",
            "  stale:   what ran before the invoke may have changed the other copy",
        ],
    ]


def test_an_exchange_has_one_reason_for_its_transfers() -> None:
    work = bench(cells("u write w3"), cells("v write w3", "u read w3 stencil 1"))
    work.apply(AccKernels("loop1", "loop1"))
    work.apply(AccKernels("loop2", "loop2"))
    work.apply(AccEnterData(work.schedule.name))
    text = explain_transfers(work.schedule)
    assert "u, at halo(u)@loop2: from the device before and the halo to it after" in text
    assert "messages are sent from the host" in text


def test_what_a_step_asked_for_needs_no_other_reason() -> None:
    work = bench(cells("u write w3"))
    work.apply(AccKernels("loop1", "loop1"))
    work.apply(AccEnterData(work.schedule.name))
    work.apply(AccUpdate("end"))
    text = explain_transfers(work.schedule)
    assert text.endswith("to the host\n  needed:  a step asked for it\n")


def test_nothing_is_said_where_no_device_is() -> None:
    assert explain_transfers(bench(cells("u write w3")).schedule) == ""
