"""What a script can ask for besides schedules: settings, Fortran, the algorithm, dependences."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from command import NOT_INPUT, Outcome, run_command
from psyclone_storage.analysis.schedules.access import DataUse
from psyclone_storage.base.diagnostic import CompileError, InternalError
from psyclone_storage.ir.kernel import Access
from psyclone_storage.scripting import DataAccess, HaloExchange, Loop, Psy, Schedule
from psyclone_storage.scripting.arguments import Argument, arguments_of
from unit.analysis.small import RULES, cells, dofs
from unit.scripting.test_changes import program

TESTS = Path(__file__).parents[2]
CASE = TESTS / "cases" / "lfric" / "increment_then_stencil"
CORPUS = TESTS / "corpus" / "lfric" / "kernels"
Run = Callable[..., Outcome]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a folder with an algorithm of one invoke, `alg.x90`, and its kernels."""
    folder = tmp_path / "project"
    shutil.copytree(CASE, folder, ignore=shutil.ignore_patterns(*NOT_INPUT))
    (folder / "kernels").symlink_to(CORPUS, target_is_directory=True)
    return folder


@pytest.fixture
def run(project: Path) -> Run:
    """Return what runs the command with a script whose lines are given, and more words."""

    def given(script: str, *words: str) -> Outcome:
        (project / "recipe.py").write_text(script, encoding="utf-8")
        outputs = ["-oalg", "a.f90", "-opsy", "p.f90"]
        command = ["-api", "lfric", "-d", "kernels", *outputs, "-s", "recipe.py", *words]
        return run_command([*command, "alg.x90"], project)

    return given


def printed(done: Outcome) -> list[str]:
    assert (done.status, done.err) == (0, "")
    return done.out.splitlines()


# ---------------------------------------------------------------------------- settings

SETTINGS = """\
from psyclone.configuration import Config

def trans(psyir):
    config = Config.get()
    assert config is Config.get()
    old, new = config.api_conf("dynamo0.3"), config.api_conf()
    assert old.compute_annexed_dofs is new.compute_annexed_dofs
    assert {"lfric", "gocean1.0"} <= set(config.supported_apis)
    print(config.api, config.distributed_memory, config.include_paths)
    print(config.api_conf("lfric").compute_annexed_dofs)
    print(config.api_conf("gocean").debug_mode)
"""


def test_a_script_sees_the_settings_of_this_compilation(run: Run) -> None:
    changed = ("--config-opts", "COMPUTE_ANNEXED_DOFS=true", "-I", "inc")
    assert printed(run(SETTINGS, "-nodm", *changed)) == ["lfric False ['inc']", "True", "False"]
    assert printed(run(SETTINGS))[:2] == ["lfric True []", "False"]


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("distributed_memory = False", "cannot set 'distributed_memory'", "option -dm or -nodm"),
        ("reprod_pad_size = 8", "cannot set 'reprod_pad_size'", "the settings file"),
    ],
)
def test_a_script_cannot_change_settings(run: Run, line: str, message: str, hint: str) -> None:
    head = "from psyclone.configuration import Config\ndef trans(psyir):\n"
    done = run(f"{head}    Config.get().{line}\n")
    assert done.status == 1
    assert message in done.err
    assert hint in done.err
    assert done.written == {}


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("api_conf('nemo')", "There is no API 'nemo'"),
        ("api_conf('lfric').compute_anexed_dofs", "'compute_anexed_dofs'"),
    ],
)
def test_what_is_no_setting_is_refused(run: Run, asked: str, said: str) -> None:
    head = "from psyclone.configuration import Config\ndef trans(psyir):\n"
    assert said in run(f"{head}    Config.get().{asked}\n").err


# ---------------------------------------------------------------------------- keywords, files


def test_keyword_arguments_reach_the_script(run: Run) -> None:
    script = "def trans(psy, depth, names=()):\n    print(depth, names)\n"
    done = run(script, "--script-kwargs", "depth=2, names=['a', 'b']")
    assert printed(done) == ["2 ['a', 'b']"]
    assert "missing a required argument: 'depth'" in run(script, "--script-kwargs", "width=2").err


@pytest.mark.parametrize("text", ["2", "depth=", "depth=print()", "**{}", "a=1)+f(b=2"])
def test_what_is_no_keyword_argument_is_refused(run: Run, text: str) -> None:
    done = run("def trans(psy, **given):\n    pass\n", "--script-kwargs", text)
    assert "error[L001]: '--script-kwargs' takes" in done.err


def test_keyword_arguments_need_a_script(project: Path) -> None:
    done = run_command(["-api", "lfric", "alg.x90", "--script-kwargs", "a=1"], project)
    assert "error[L002]: '--script-kwargs' is for a script" in done.err


def test_files_to_skip_are_files_without_invokes(run: Run) -> None:
    body = "def trans(psy):\n    print('called')\n"
    assert printed(run(f"FILES_TO_SKIP = ['alg.x90']\n{body}")) == ["called"]


# ---------------------------------------------------------------------------- the algorithm


def test_a_script_looks_at_the_algorithm(run: Run) -> None:
    script = """\
from psyclone.domain.common.algorithm.psyir import AlgorithmInvokeCall, KernelFunctor
def trans(psyir):
    print("layer")
def trans_alg(psyir):
    for invoke in psyir.walk(AlgorithmInvokeCall):
        print(invoke.view(), end="")
        assert invoke.root == psyir and invoke.walk(KernelFunctor) == list(invoke.children)
"""
    done = printed(run(script))
    assert done[0] == "layer"
    assert done[1].startswith("Invoke 'invoke_")
    assert done[2].startswith("  ")
    assert "(" in done[2]


# ---------------------------------------------------------------------------- Fortran

WRITER = """\
from psyclone.psyir.backend.fortran import FortranWriter
from psyclone.psyir.nodes import Loop, Routine
from psyclone.transformations import LFRicOMPParallelLoopTrans, TransformationError
def trans(psyir):
    write = FortranWriter()
    (schedule, *_) = psyir.walk(Routine)
    assert write(psyir) == write(schedule.root) == write(psyir.children[0])
    print(write(schedule.lower_to_language_level()))
    try:
        write(schedule.loops()[0])
    except TransformationError as error:
        print(error.value)
"""


def test_a_script_prints_what_a_schedule_becomes(run: Run) -> None:
    text = "\n".join(printed(run(WRITER)))
    assert text.splitlines()[1].startswith("module ")
    assert text.count("end subroutine invoke_") == 1
    assert text.endswith("A file, a module or a schedule is written as Fortran, no part of one.")


KERNELS = """\
from psyclone.psyir.backend.fortran import FortranWriter
from psyclone.domain.common.transformations import KernelModuleInlineTrans
from psyclone.psyir.nodes import IntrinsicCall, KernelSchedule
def trans(psyir):
    assert not psyir.walk(KernelSchedule)
    call = psyir.coded_kernels()[0]
    (routine,) = call.get_callees()
    assert routine == call.get_kernel_schedule()
    print(FortranWriter()(routine).splitlines()[0])
    print([call.intrinsic.name for call in routine.walk(IntrinsicCall)])
    KernelModuleInlineTrans().apply(call)
    print([routine.name for routine in psyir.walk(KernelSchedule)])
"""


def test_a_script_looks_at_the_code_of_kernels(run: Run) -> None:
    head, functions, inlined = printed(run(KERNELS))
    assert head.startswith("subroutine ")
    assert functions == "[]"
    assert inlined == f"['{head.split()[1].partition('(')[0]}']"


LOOPS = """\
from psyclone_storage.scripting import CodedCall, KernelLoop

def trans(psy):
    schedule = psy.children[0]
    for call in schedule.walk(CodedCall):
        (routine,) = call.get_callees()
        loops = routine.walk(KernelLoop)
        assert loops == list(routine.loops)
        print([(loop.number, loop.variable, len(loop.walk(KernelLoop))) for loop in loops])
        assert all(loop.call == call and loop.ancestor(type(routine)) for loop in loops)
        assert [loop.node_str()[:3] for loop in loops] == ["do "] * len(loops)
        for loop in loops[:1]:
            schedule.apply(f"kernel-chunk{{call={call.uid} loop={loop.number} size=4}}")
        print([loop.variable for loop in call.get_callees()[0].loops])
        # The loops that it has found are those that they were, with other numbers.
        print([(loop.number, loop.variable, loop.parent.variable) for loop in loops])
        schedule.undo()
        print([(loop.number, loop.variable) for loop in loops])
"""


def test_a_script_finds_loops_in_kernels(run: Run) -> None:
    assert printed(run(LOOPS)) == [
        "[(1, 'k', 2), (2, 'df', 1)]",
        "['k_chunk', 'k', 'df']",
        "[(2, 'k', 'k_chunk'), (3, 'df', 'k')]",
        "[(1, 'k'), (2, 'df')]",
        "[(1, 'k', 2), (2, 'p', 1)]",
        "['k_chunk', 'k', 'p']",
        "[(2, 'k', 'k_chunk'), (3, 'p', 'k')]",
        "[(1, 'k'), (2, 'p')]",
    ]


# ---------------------------------------------------------------------------- dependences


def small() -> Schedule:
    """Return two writers, and a reader of both with a stencil on a vector."""
    calls = (cells("u write w3"), dofs("v write w3"), cells("w write w3", "u read w3 stencil 1"))
    (tree,) = Psy(program(*calls), RULES).children
    assert isinstance(tree, Schedule)
    return tree


def test_nodes_know_what_they_depend_on() -> None:
    tree = small()
    first, other, reader = tree.loops()
    exchange = tree.walk(HaloExchange)[0]
    assert reader.backward_dependence() == exchange
    assert exchange.backward_dependence() in (first, *tree.children)
    assert other.backward_dependence() is None
    assert reader.kernels()[0].backward_dependence() == exchange
    assert other.is_valid_location(first)
    assert not reader.is_valid_location(first)
    assert reader.immediately_follows(exchange)
    assert exchange.immediately_precedes(reader)
    assert reader.preceding()[0] == first == reader.preceding(reverse=True)[-1]
    assert first.forward_dependence() is not None


def test_arguments_overlap_and_cover_each_other() -> None:
    """The seed's example: three exchanges of components cover a vector of three."""
    part = [Argument(use) for use in _uses_of_vector()]
    whole, pieces = part[0], part[1:]
    access = DataAccess(whole)
    for piece in pieces:
        assert not access.covered
        assert access.overlaps(piece)
        access.update_coverage(piece)
    assert access.covered
    assert not DataAccess(pieces[0]).overlaps(pieces[1])
    with pytest.raises(InternalError):
        access.update_coverage(pieces[0])
    access.reset_coverage()
    assert not access.covered
    assert [piece.components for piece in pieces] == [(1,), (2,), (3,)]


def _uses_of_vector() -> list[DataUse]:
    parts = [frozenset({1, 2, 3}), *(frozenset({number}) for number in (1, 2, 3))]
    return [
        DataUse(f"s{number}", "f1", part, Access.READ, exchange=number > 0)
        for number, part in enumerate(parts)
    ]


def test_the_arguments_of_a_call_are_those_of_its_data() -> None:
    call = small().kernels()[2]
    assert [(arg.name, arg.access) for arg in call.args] == [("w", "write"), ("u", "read")]
    assert arguments_of.__doc__


# ---------------------------------------------------------------------------- pictures


def test_a_graph_goes_to_a_file_as_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tree = small()
    text = tree.dag("graph", "dot")
    assert (tmp_path / "graph.dot").read_text(encoding="utf-8") == text == tree.dag()
    assert text.startswith("digraph")


def test_without_graphviz_the_text_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shutil.which", lambda _: None)
    text = small().dag("graph", "png")
    assert (tmp_path / "graph.dot").read_text(encoding="utf-8") == text
    assert "Graphviz is not installed: 'graph.dot'" in capsys.readouterr().err


@pytest.mark.parametrize("works", [True, False])
def test_graphviz_draws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, works: bool) -> None:
    fake = tmp_path / "dot"
    fake.write_text('#!/bin/sh\ncat > "$3"\n' if works else "#!/bin/sh\necho no >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shutil.which", lambda _: str(fake))
    if works:
        text = small().dag("graph", "svg")
        assert (tmp_path / "graph.svg").read_text(encoding="utf-8") == text
    else:
        with pytest.raises(CompileError) as caught:
            small().dag("graph", "svg")
        assert caught.value.problems[0].hint == "no"


def test_the_body_of_a_loop_is_a_list() -> None:
    loop = small().loops()[0]
    assert list(loop.loop_body) == list(loop.children)
    assert loop.loop_body[0].ancestor(Loop) == loop == loop.loop_body.parent
    assert loop.loop_body != loop
    assert loop.view().startswith(loop.uid)
    assert loop.node_str().startswith(f"{loop.uid}  ")
