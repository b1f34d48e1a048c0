"""Settings that require extensions which an infrastructure or a target may lack."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import run_command
from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.config.load import settings_of
from psyclone_storage.config.locate import read_settings_texts, search_context
from psyclone_storage.config.settings import JointExchanges, Settings
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.targets.extensions import with_extensions
from psyclone_storage.targets.spec import AskedExtension

MARKED = AskedExtension("A setting", "joint_mod", "exchange", mark=("parent_mod", "is_ours"))
UNMARKED = AskedExtension("A setting", "joint_mod", "exchange")


def settings(joint: str) -> Settings:
    return settings_of(read_settings_texts(None, search_context({})), f"JOINT_EXCHANGES={joint}")


def adapted(folder: Path, *asked: AskedExtension) -> Settings:
    """Return the settings for the sources in `folder`."""

    def required(given: Settings) -> tuple[AskedExtension, ...]:
        joint = given.joint_exchanges is JointExchanges.JOINT
        return tuple(one for one in asked if joint or one.without is None)

    return with_extensions(settings("true"), required, index_directories((folder,)))


def said(folder: Path, asked: AskedExtension) -> list[str]:
    try:
        adapted(folder, asked)
    except CompileError as error:
        return [one.message for one in error.problems]
    return []


def written(folder: Path, **modules: str) -> Path:
    for name, text in modules.items():
        (folder / f"{name}.f90").write_text(f"module {name}\n{text}\nend module {name}\n")
    return folder


def test_another_infrastructure_lacks_a_module_of_ours(tmp_path: Path) -> None:
    folder = written(tmp_path, parent_mod="! is_ours is a comment here")
    (message,) = said(folder, MARKED)
    assert message == (
        "A setting asks for the module 'joint_mod', which the infrastructure of 'parent_mod' in"
        f" '{folder / 'parent_mod.f90'}' does not have."
    )


@pytest.mark.parametrize(
    ("modules", "asked"),
    [
        ({}, MARKED),
        ({"parent_mod": "public :: is_ours"}, MARKED),
        ({"parent_mod": "", "joint_mod": "public :: exchange"}, MARKED),
        ({"parent_mod": ""}, UNMARKED),
    ],
    ids=["nothing is there", "a part of ours", "others have the module", "no mark"],
)
def test_what_may_be_there_is_not_missed(
    tmp_path: Path, modules: dict[str, str], asked: AskedExtension
) -> None:
    assert said(written(tmp_path, **modules), asked) == []


def test_a_module_without_the_name_is_said_once(tmp_path: Path) -> None:
    folder = written(tmp_path, parent_mod="", joint_mod="public :: other")
    (message,) = said(folder, MARKED)
    assert "'exchange', which the module 'joint_mod'" in message


OVERLAPPED = settings("overlapped")


def test_an_extension_with_a_replacement_is_replaced(tmp_path: Path) -> None:
    folder = written(tmp_path, parent_mod="")
    assert adapted(folder, MARKED._replace(without=OVERLAPPED)) == OVERLAPPED


@pytest.mark.parametrize("target", ["registry", "dl_esm_inf", "storage"])
def test_a_registry_alone_records_flags_that_fields_lack(target: str, tmp_path: Path) -> None:
    folder = written(tmp_path, field_mod="type :: r2d_field\nend type")
    corpus = Path(__file__).parents[2] / "corpus" / "gocean"
    options = ["--target", target, "-d", str(corpus / "kernels"), "-d", str(folder), "-dm"]
    words = ["-api", "gocean", *options, "--config-opts", "DIRTY_FLAGS=true"]
    done = run_command([*words, str(corpus / "curl.x90"), "-opsy", "psy.f90"], tmp_path)
    if target == "registry":
        assert "if (halo_is_dirty(storage_of(" in done.written["psy.f90"]
        assert "set_dirty" not in done.written["psy.f90"]
    else:
        assert "S117" in done.err
        assert not done.written


def test_an_extension_that_exists_is_not_replaced(tmp_path: Path) -> None:
    folder = written(tmp_path, parent_mod="public :: is_ours")
    assert adapted(folder, MARKED._replace(without=OVERLAPPED)) != OVERLAPPED


def test_a_replacement_of_one_extension_does_not_hide_another(tmp_path: Path) -> None:
    folder = written(tmp_path, parent_mod="")
    with pytest.raises(CompileError) as raised:
        adapted(folder, MARKED._replace(without=OVERLAPPED), MARKED._replace(name="sum"))
    assert len(raised.value.problems) == 1


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["--target", "storage"], "the target 'storage'"),
        (["--target", "registry"], "the target 'registry'"),
        (["--apply", "openacc"], "loops on a device"),
    ],
)
def test_halos_in_other_memory_are_not_checked(words: list[str], what: str, tmp_path: Path) -> None:
    corpus = Path(__file__).parents[2] / "corpus" / "lfric"
    options = ["-dm", "-d", str(corpus / "kernels"), "--config-opts", "RUN_TIME_CHECKS=halos"]
    algorithm = str(corpus / "named_invoke.x90")
    done = run_command(["-api", "lfric", *options, *words, algorithm, "-opsy", "psy.f90"], tmp_path)
    assert done.status == 1
    assert done.err.startswith(f"error[G010]: RUN_TIME_CHECKS = halos does not support {what}.\n")
    assert not done.written
