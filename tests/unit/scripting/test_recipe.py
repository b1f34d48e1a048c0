"""Scripts run in isolation, and what goes wrong in them is said at their own line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lfric_schedules import built_in, dof_loop, field, program, scalar
from psyclone_storage.base.diagnostic import CompileError, Diagnostic
from psyclone_storage.domains.lfric.rules import LfricRules
from psyclone_storage.scripting.recipe import read_recipe

PROGRAM = program((field("f"), scalar("a")), dof_loop(built_in("setval_c", "f", "a")))


def run(folder: Path, text: str, name: str = "optimise.py") -> None:
    path = folder / name
    path.write_text(text)
    assert read_recipe(path).run(PROGRAM, LfricRules()) is PROGRAM


def failure(folder: Path, text: str) -> Diagnostic:
    with pytest.raises(CompileError) as caught:
        run(folder, text)
    (problem,) = caught.value.problems
    return problem


def test_trans_is_called_with_the_psy_layer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, "def trans(psy):\n    print(psy.name, psy.invokes.names)\n")
    assert capsys.readouterr().out == "alg_psy ['invoke_test']\n"


def test_a_script_may_have_any_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One that is called like a module of Python does not become that module."""
    before = sys.modules["json"]
    for name in ("json.py", "no_suffix", "two.dots.py"):
        run(tmp_path, "def trans(psy):\n    print(__name__)\n", name)
    assert sys.modules["json"] is before
    assert capsys.readouterr().out == "json_\nno_suffix\ntwo.dots\n"


def test_classes_that_look_for_their_module_work(tmp_path: Path) -> None:
    run(
        tmp_path,
        "from __future__ import annotations\n"
        "from dataclasses import dataclass\n\n"
        "@dataclass\nclass Choice:\n    depth: int = 1\n\n"
        "def trans(psy):\n    assert Choice(2).depth == 2\n",
    )


def test_what_is_wrong_in_another_file_is_shown_with_the_line_of_the_script(tmp_path: Path) -> None:
    text = (
        "from psyclone_storage.base.diagnostic import CompileError, Diagnostic\n"
        "from psyclone_storage.base.source import SourceText\n\n"
        "def trans(psy):\n"
        "    place = SourceText('alg.x90', 'call invoke').span(0, 4)\n"
        "    raise CompileError(Diagnostic('T005', 'No colours.', place))\n"
    )
    problem = failure(tmp_path, text)
    assert problem.span is not None
    assert problem.span.source.text == "call invoke"
    (related,) = problem.related
    assert (related.span.text, related.label) == (text.splitlines()[-1].strip(), "asked for here")


def test_a_question_needs_no_full_stop(tmp_path: Path) -> None:
    text = "def trans(psy):\n    raise ValueError('Why?')\n"
    assert failure(tmp_path, text).message == "The script failed with ValueError: Why?"


def test_names_that_are_misspelt_are_told_the_nearest(tmp_path: Path) -> None:
    text = "def trans(psy):\n    from psyclone.transformations import LFRicColorTrans\n"
    assert failure(tmp_path, text).hint == "Did you mean 'LFRicColourTrans'?"
    assert failure(tmp_path, "def trans(psy):\n    psy.invoks\n").hint == "Did you mean 'invokes'?"
    assert failure(tmp_path, "def trans(psy):\n    psy.zzz\n").hint == ""
    assert failure(tmp_path, "def trans(psy):\n    raise AttributeError\n").hint == ""


def test_what_lies_beside_a_script_can_be_imported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "helper.py").write_text("WORD = 'beside'\n")
    run(tmp_path, "import helper\n\ndef trans(psy):\n    print(helper.WORD)\n")
    other = tmp_path / "other"
    other.mkdir()
    (other / "helper.py").write_text("WORD = 'beside the other'\n")
    run(other, "import helper\n\ndef trans(psy):\n    print(helper.WORD)\n")
    assert capsys.readouterr().out == "beside\nbeside the other\n"


@pytest.mark.parametrize("end", ["pass", "raise ValueError"])
def test_python_is_as_before_afterwards(tmp_path: Path, end: str) -> None:
    (tmp_path / "helper.py").write_text("")
    search, modules, folder = list(sys.path), set(sys.modules), Path.cwd()
    text = (
        "import os\nimport sys\nimport helper\nsys.path.append('more')\n\n"
        f"def trans(psy):\n    os.chdir('/')\n    import helper\n    {end}\n"
    )
    if end == "pass":
        run(tmp_path, text)
    else:
        failure(tmp_path, text)
    assert sys.path == search
    assert set(sys.modules) == modules
    assert Path.cwd() == folder
    assert not (tmp_path / "optimise.pyc").exists()


def test_a_script_that_changed_within_a_second_is_read_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(tmp_path, "def trans(psy):\n    print(1)\n")
    run(tmp_path, "def trans(psy):\n    print(2)\n")
    assert capsys.readouterr().out == "1\n2\n"


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("def trans(psy):\n    x = 1\n    1 / 0\n", "ZeroDivisionError: division by zero", "1 / 0"),
        ("def trans(psy):\n    raise ValueError\n", "ValueError: no message", "raise ValueError"),
        ("1 / 0\n", "ZeroDivisionError: division by zero", "1 / 0"),
        ("def trans(psy):\n    {}['loop']\n", "KeyError: loop", "{}['loop']"),
        ("import helper\ndef trans(psy):\n    helper.f()\n", "AttributeError: ", "None.nothing"),
    ],
)
def test_an_exception_is_shown_at_the_script_s_line(
    tmp_path: Path, text: str, message: str, place: str | None
) -> None:
    (tmp_path / "helper.py").write_text("def f():\n    None.nothing\n")
    problem = failure(tmp_path, text)
    assert problem.code == "T002"
    assert problem.message.startswith(f"The script failed with {message}")
    assert (problem.span and problem.span.text) == place


@pytest.mark.parametrize("text", ["1 / 0", "1 / ("])
def test_a_line_that_its_file_does_not_have_is_not_shown(tmp_path: Path, text: str) -> None:
    (tmp_path / "helper.py").write_text("x = 1\n")
    made = f"compile('\\n' * 9 + {text!r}, {str(tmp_path / 'helper.py')!r}, 'exec')"
    problem = failure(tmp_path, f"def trans(psy):\n    exec({made})\n")
    assert problem.code == "T002"
    assert problem.span is not None
    assert problem.span.line == 2


def test_a_module_that_changed_since_another_error_is_read_again(tmp_path: Path) -> None:
    for text in ("x = (\n", "\n\n\nx = (\n"):
        (tmp_path / "helper.py").write_text(text)
        problem = failure(tmp_path, "import helper\ndef trans(psy):\n    pass\n")
        assert problem.span is not None
        assert problem.span.text == "("


def test_problems_that_a_step_reports_are_kept(tmp_path: Path) -> None:
    problem = failure(
        tmp_path,
        "from psyclone_storage.base.diagnostic import CompileError, Diagnostic\n"
        "def trans(psy):\n    raise CompileError(Diagnostic('T003', 'No.'))\n",
    )
    assert (problem.code, problem.message) == ("T003", "No.")


def test_the_keyboard_stops_a_script(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "def trans(psy):\n    raise KeyboardInterrupt\n")


HELPER = "def outer(psy):\n    inner(psy)\n\ndef inner(psy):\n    {body}\n"


@pytest.mark.parametrize("beside", [True, False])
def test_the_calls_into_a_script_s_own_modules_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, beside: bool
) -> None:
    folder = tmp_path if beside else tmp_path / "elsewhere"
    folder.mkdir(exist_ok=True)
    (folder / "words_of_mine.py").write_text(HELPER.format(body="psy.nothing_here"))
    monkeypatch.syspath_prepend(str(folder))
    problem = failure(
        tmp_path, "import words_of_mine\n\ndef trans(psy):\n    words_of_mine.outer(psy)\n"
    )
    assert problem.span is not None
    assert Path(problem.span.source.name).name == "words_of_mine.py"
    assert (problem.span.line, problem.span.text) == (5, "psy.nothing_here")
    assert [(one.span.text, one.label) for one in problem.related] == [
        ("inner(psy)", "called from here"),
        ("words_of_mine.outer(psy)", "called from here"),
    ]
    sys.modules.pop("words_of_mine", None)


def test_a_refused_step_in_an_own_module_is_shown_with_its_calls(tmp_path: Path) -> None:
    body = "raise CompileError(Diagnostic('T003', 'No.'))"
    imports = "from psyclone_storage.base.diagnostic import CompileError, Diagnostic\n"
    (tmp_path / "mine.py").write_text(imports + HELPER.format(body=body))
    problem = failure(tmp_path, "import mine\n\ndef trans(psy):\n    mine.outer(psy)\n")
    assert problem.code == "T003"
    assert problem.span is not None
    assert problem.span.text == body
    assert [one.span.text for one in problem.related] == ["inner(psy)", "mine.outer(psy)"]


def test_of_many_calls_the_nearest_and_the_first_are_shown(tmp_path: Path) -> None:
    text = "def trans(psy, n=50):\n    trans(psy, n - 1) if n else 1 / 0\n"
    problem = failure(tmp_path, text)
    assert len(problem.related) == 6


def test_what_python_and_its_packages_do_is_no_part_of_the_script(tmp_path: Path) -> None:
    problem = failure(tmp_path, "import json\n\ndef trans(psy):\n    json.loads('{')\n")
    assert problem.span is not None
    assert problem.span.text == "json.loads('{')"
    assert problem.related == ()
    assert problem.trace.startswith("Traceback")
    assert "decoder.py" in problem.trace
