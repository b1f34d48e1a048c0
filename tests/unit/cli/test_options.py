"""The words of the command line, and what they mean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.base.records import replace
from psyclone_storage.cli.kern_options import read_kernel_options
from psyclone_storage.cli.options import CommandOptions, algorithm_path, psy_path, read_options


def options(words: str) -> CommandOptions:
    return read_options(words.split())


def complaints(words: str) -> list[str]:
    with pytest.raises(CompileError) as caught:
        options(words)
    return [f"{problem.code}: {problem.message}" for problem in caught.value.problems]


def test_without_options_the_settings_decide() -> None:
    given = options("alg.x90")
    assert given.files == (Path("alg.x90"),)
    assert (given.api, given.distributed, given.config, given.config_opts) == (None, None, "", "")
    assert (given.line_length, given.jobs, given.compiler) == ("off", 1, "gfortran")
    assert not given.writes
    assert not given.reports


# The spellings of PSyclone 3.3.1, so that a build system can swap the command.
@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        ("-api lfric", "api", "lfric"),
        ("-api dynamo0.3", "api", "dynamo0.3"),
        ("--psykal-dsl gocean", "api", "gocean"),
        ("-oalg a.f90", "algorithm_output", Path("a.f90")),
        ("-opsy p.f90", "psy_output", Path("p.f90")),
        ("-okern out", "kernel_output", Path("out")),
        ("-d one -d two/three", "directories", (Path("one"), Path("two/three"))),
        ("--directory one", "directories", (Path("one"),)),
        ("-I inc --include more", "includes", (Path("inc"), Path("more"))),
        ("-s optimise.py", "script", Path("optimise.py")),
        ("--script ./optimise.py", "script", Path("optimise.py")),
        ("-l all", "line_length", "all"),
        ("--limit output", "line_length", "output"),
        ("-dm", "distributed", True),
        ("--dist_mem", "distributed", True),
        ("-nodm", "distributed", False),
        ("--no_dist_mem", "distributed", False),
        ("-c my.cfg", "config", "my.cfg"),
        ("--config my.cfg", "config", "my.cfg"),
        ("--config-opts COMPUTE_ANNEXED_DOFS=true", "config_opts", "COMPUTE_ANNEXED_DOFS=true"),
        ("-j 4", "jobs", 4),
        ("--schedule-json", "schedule_json", "-"),
        ("--dag=dag.dot", "dag", "dag.dot"),
        ("--compile --f90flags=-O2", "compiler_flags", "-O2"),
        ("--compile --f90flags -O2", "compiler_flags", "-O2"),
    ],
)
def test_spelling(words: str, name: str, value: object) -> None:
    assert getattr(options(f"alg.x90 {words}"), name) == value


def test_files_stand_before_between_and_behind_options() -> None:
    given = options("a.x90 -d kernels b.x90 --output-dir out c.x90")
    assert given.files == (Path("a.x90"), Path("b.x90"), Path("c.x90"))


def test_output_folder_names_both_files_of_each_algorithm() -> None:
    given = options("src/one.x90 src/two.x90 --output-dir out")
    assert [algorithm_path(file, given) for file in given.files] == [
        Path("out/one.f90"),
        Path("out/two.f90"),
    ]
    assert psy_path(given.files[1], given) == Path("out/two_psy.f90")


def test_one_named_output_leaves_the_other_on_standard_output() -> None:
    given = options("alg.x90 -opsy psy.f90")
    assert algorithm_path(given.files[0], given) is None
    assert psy_path(given.files[0], given) == Path("psy.f90")


def test_every_contradiction_is_reported_at_once() -> None:
    assert len(complaints("a.x90 b.x90 -oalg a.f90 --output-dir out -j 0")) == 3


def test_each_unknown_word_is_reported() -> None:
    assert complaints("alg.x90 --nothing --at-all=3") == [
        "L001: There is no option '--nothing'.",
        "L001: There is no option '--at-all'.",
    ]


@pytest.mark.parametrize(
    "words", ["--targt c", "--targt", "alg.x90 --targt c", "--targt c alg.x90", "--targt c -j 2"]
)
def test_a_misspelt_option_is_the_only_mistake(words: str) -> None:
    assert complaints(words) == ["L001: There is no option '--targt'."]


def test_options_are_not_abbreviated() -> None:
    assert complaints("alg.x90 --sched") == ["L001: There is no option '--sched'."]


def test_files_that_are_no_files_may_be_named_twice() -> None:
    given = options("alg.x90 -oalg /dev/null -opsy /dev/null")
    assert given.algorithm_output == given.psy_output


def test_an_output_may_replace_an_older_one(tmp_path: Path) -> None:
    old = tmp_path / "schedule.json"
    old.write_text("[]")
    assert options(f"alg.x90 --schedule-json {old}").schedule_json == str(old)


def test_inputs_are_never_outputs() -> None:
    assert complaints("src/alg.f90 --output-dir src --depfile src/../src/alg_psy.f90") == [
        "L002: 'src/alg.f90' is an input and would be overwritten.",
        "L002: 'src/../src/alg_psy.f90' would be written twice.",
    ]


def test_kernel_options_of_both_tools_go_through() -> None:
    given = read_kernel_options("-gen stub k.f90 -o out.f90 -I inc -l all -api lfric".split())
    assert (given.files, given.check, given.output) == ((Path("k.f90"),), False, Path("out.f90"))
    assert read_kernel_options("-check a.f90 b.f90 --type t".split()).type_name == "t"


def test_fab_finds_the_version_that_it_looks_for(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_options(["--version"])
    assert re.search(r"PSyclone version: (\d[\d.]+\d)", capsys.readouterr().out)


@pytest.mark.parametrize("word", ["cmake", "make"])
def test_folders_of_build_systems_are_told(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_options([f"--{word}-dir"])
    (path,) = capsys.readouterr().out.splitlines()
    assert any(Path(path).glob("psyclone_storage*"))


def test_options_of_psyclone_that_are_settings() -> None:
    words = "--backend-disable-validation --backend-disable-indentation --config-opts A=b x.x90"
    options = read_options(words.split())
    wanted = "A=b BACKEND_CHECKS_ENABLED=false BACKEND_INDENTATION_DISABLED=true"
    assert options.config_opts == wanted
    assert options.remarks == ()


@pytest.mark.parametrize(
    "words",
    [
        "--enable-cache",
        "--keep-comments",
        "--keep-directives",
        "--keep-conditional-openmp-statements",
        "--frontend treesitter",
        "--log-level DEBUG",
        "--log-file psyclone.log",
        "--modman-file-ignore old",
        "--backend-add-all-intrinsic-arg-names",
    ],
)
def test_options_of_psyclone_that_change_nothing(words: str) -> None:
    flag = words.partition(" ")[0]
    options = read_options([*words.split(), "alg.x90"])
    (remark,) = options.remarks
    assert remark.code == "L016"
    assert remark.message.startswith(f"'{flag}' changes nothing here: ")
    assert replace(options, remarks=()) == read_options(["alg.x90"])


def test_the_form_of_files_is_that_of_the_options() -> None:
    assert read_options(["alg.x90"]).fixed_form is None
    assert read_options(["--free-form", "alg.x90"]).fixed_form is False
