"""Which row is generated for: the target that is named, else what a file ends in, else settings."""

from __future__ import annotations

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.config.settings import Api, DataMovement
from psyclone_storage.targets.apis import target_of, targets_of

STORAGE = DataMovement.STORAGE
CHOSEN = [
    (api, movement, movement.value)
    for movement in (STORAGE, DataMovement.REGISTRY)
    for api in Api
    if movement.value in targets_of(api)
]


def test_both_apis_have_storages_and_a_registry() -> None:
    assert len(CHOSEN) == 4


@pytest.mark.parametrize(("api", "movement", "name"), CHOSEN)
def test_settings_choose_storages_unless_a_target_is_named(
    api: Api, movement: DataMovement, name: str
) -> None:
    known = targets_of(api)
    plain = next(iter(known))
    assert target_of(api) is known[plain]
    assert target_of(api, movement=movement) is known[name]
    assert target_of(api, "", ".x90", movement) is known[name]
    assert target_of(api, plain, movement=movement) is known[plain]
    assert target_of(api, "storage", movement=movement) is known["storage"]


def test_programs_in_python_have_storages_anyway() -> None:
    assert target_of(Api.GOCEAN, "", ".py", STORAGE) is targets_of(Api.GOCEAN)["c"]


def test_a_target_that_is_none_is_refused() -> None:
    with pytest.raises(CompileError) as refused:
        target_of(Api.LFRIC, "dl_esm_inf")
    assert refused.value.problems[0].code == "L002"


@pytest.mark.parametrize(
    ("suffix", "targets"),
    [(".py", "c, cuda, numpy"), (".x90", "dl_esm_inf, registry, storage")],
)
def test_the_hint_lists_the_targets_of_the_language(suffix: str, targets: str) -> None:
    with pytest.raises(CompileError) as refused:
        target_of(Api.GOCEAN, "cpp", suffix)
    assert refused.value.problems[0].hint == f"Choose from {targets}."


@pytest.mark.parametrize(("name", "suffix"), [("c", ".x90"), ("numpy", ".f90"), ("storage", ".py")])
def test_a_target_for_the_other_language_is_refused(name: str, suffix: str) -> None:
    with pytest.raises(CompileError, match=f"The target '{name}' is for algorithms in"):
        target_of(Api.GOCEAN, name, suffix)
