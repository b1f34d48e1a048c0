"""Which halo exchanges share their messages, and where they then stand."""

from __future__ import annotations

from dataclasses import replace

from psyclone_storage.ir.schedule import HaloExchange, Phase, ProfileRegion, Schedule
from psyclone_storage.ir.types import DerivedType
from psyclone_storage.ir.walk import sequential_statements
from psyclone_storage.transform.aggregate_exchanges import with_joint_exchanges
from psyclone_storage.transform.halos import with_halos
from unit.analysis.small import RULES, cells, dofs, schedule

READS_THREE = cells("w inc w0", "u read w0", "n read w3", "v read w2")


def planned(*more: object) -> Schedule:
    return with_halos(schedule(READS_THREE, *more, fills=False), RULES)  # type: ignore[arg-type]


def groups(done: Schedule) -> list[tuple[str, ...]]:
    found = [item.joint for item in sequential_statements(done) if isinstance(item, HaloExchange)]
    return list(dict.fromkeys(found))


def order(done: Schedule) -> list[str]:
    return [item.uid for item in done.body]


def of_type(made: Schedule, name: str, type_name: str) -> Schedule:
    """Return `made` with a field of another type."""
    data = tuple(
        replace(datum, type=DerivedType(type_name)) if datum.name == name else datum
        for datum in made.data
    )
    return replace(made, data=data)


def changed(made: Schedule, uid: str, **changes: object) -> Schedule:
    """Return `made` with one of its exchanges changed."""
    body = tuple(
        replace(item, **changes)  # type: ignore[arg-type]
        if item.uid == uid
        else item
        for item in made.body
    )
    return replace(made, body=body)


def ends(uid: str, datum: str, phase: Phase) -> HaloExchange:
    return replace(
        next(item for item in planned().body if isinstance(item, HaloExchange)),
        uid=uid, datum=datum, phase=phase, pinned=True,
    )  # fmt: skip


def test_exchanges_with_nothing_between_them_go_together() -> None:
    made = planned()
    done = with_joint_exchanges(made)
    (group,) = groups(done)
    assert set(group) == {"halo(u)@loop1", "halo(n)@loop1", "halo(v)@loop1"}
    assert order(done) == order(made)


def test_joining_twice_changes_nothing() -> None:
    done = with_joint_exchanges(planned())
    assert with_joint_exchanges(done) == done


def test_an_exchange_that_is_alone_stays_alone() -> None:
    made = with_halos(schedule(cells("w inc w0", "u read w0"), fills=False), RULES)
    assert with_joint_exchanges(made) == made


def test_fields_of_another_type_go_on_their_own_behind_the_group() -> None:
    done = with_joint_exchanges(of_type(planned(), "n", "integer_field_type"))
    first, second, third, *_ = order(done)
    assert groups(done) == [(first, second), ()]
    assert third == "halo(n)@loop1"


def test_what_a_device_has_to_do_with_goes_on_its_own() -> None:
    for side in ("fetched", "sent"):
        done = with_joint_exchanges(changed(planned(), "halo(u)@loop1", **{side: True}))
        assert {frozenset(group) for group in groups(done)} == {
            frozenset(), frozenset({"halo(n)@loop1", "halo(v)@loop1"})
        }  # fmt: skip


def test_a_loop_between_two_exchanges_keeps_them_apart() -> None:
    made = with_halos(
        schedule(cells("w inc w0", "u read w0"), cells("w inc w0", "v read w0"), fills=False), RULES
    )
    assert groups(with_joint_exchanges(made)) == [()]


def test_components_of_a_field_vector_go_together() -> None:
    made = with_halos(
        schedule(cells("w inc w0", "u read w0"), vectors={"u": 3}, fills=False), RULES
    )
    assert groups(with_joint_exchanges(made)) == [
        ("halo(u[1])@loop1", "halo(u[2])@loop1", "halo(u[3])@loop1")
    ]


def test_starts_go_together_if_their_finishes_do() -> None:
    loop = next(item for item in planned().body if item.uid == "loop1")
    starts = (ends("s1", "u", Phase.START), ends("s2", "v", Phase.START))
    finishes = (ends("f1", "u", Phase.FINISH), ends("f2", "v", Phase.FINISH))
    together = replace(planned(), body=(*starts, loop, *finishes))
    assert groups(with_joint_exchanges(together)) == [("s1", "s2"), ("f1", "f2")]
    apart = replace(planned(), body=(*starts, finishes[0], loop, finishes[1]))
    assert groups(with_joint_exchanges(apart)) == [()]


def test_a_finish_and_a_start_do_not_go_together() -> None:
    body = (
        ends("s1", "u", Phase.START), ends("f1", "u", Phase.FINISH),
        ends("s2", "v", Phase.START), ends("f2", "v", Phase.FINISH),
    )  # fmt: skip
    assert groups(with_joint_exchanges(replace(planned(), body=body))) == [()]


def test_exchanges_in_a_region_do_not_go_with_those_outside() -> None:
    made = planned(dofs("x write w0"))
    first, *rest = made.body
    region = ProfileRegion("region", "", "r", tuple(rest))
    done = with_joint_exchanges(replace(made, body=(first, region)))
    assert groups(done)[0] == ()
    assert len(groups(done)[1]) == 2


def overlapped(made: Schedule) -> list[tuple[str, ...]]:
    """Return the groups of exchanges that are in progress at the same time."""
    done = with_joint_exchanges(made, overlapped=True)
    assert with_joint_exchanges(done, overlapped=True) == done
    found = [item for item in sequential_statements(done) if isinstance(item, HaloExchange)]
    assert all(item.overlapped == bool(item.joint) for item in found)
    return [group for group in groups(done) if group]


def test_fields_of_any_type_are_in_progress_together() -> None:
    (group,) = overlapped(of_type(planned(), "n", "integer_field_type"))
    assert set(group) == {"halo(u)@loop1", "halo(n)@loop1", "halo(v)@loop1"}


def test_a_field_that_may_be_another_is_not_in_progress_with_it() -> None:
    made = planned()
    pairs = {"u": ("v",), "v": ("u",)}
    data = tuple(replace(one, may_alias=pairs.get(one.name, ())) for one in made.data)
    (group,) = overlapped(replace(made, data=data))
    assert "halo(n)@loop1" in group
    assert len({"halo(u)@loop1", "halo(v)@loop1"} & set(group)) == 1


def test_a_vector_and_its_component_are_not_in_progress_together() -> None:
    made = planned()
    again = replace(
        next(item for item in made.body if isinstance(item, HaloExchange) and item.datum == "u"),
        uid="again", component=2,
    )  # fmt: skip
    (group,) = overlapped(replace(made, body=(again, *made.body)))
    assert len({"again", "halo(u)@loop1"} & set(group)) == 1


def test_exchanges_with_a_device_or_in_two_parts_are_on_their_own() -> None:
    made = changed(planned(), "halo(u)@loop1", fetched=True)
    (group,) = overlapped(made)
    assert set(group) == {"halo(n)@loop1", "halo(v)@loop1"}
    split = changed(made, "halo(v)@loop1", phase=Phase.START, pinned=True)
    assert overlapped(split) == []
