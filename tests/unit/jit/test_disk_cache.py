"""Invokes that an earlier program has compiled: found by all that they depend on, or not at all."""

from __future__ import annotations

import importlib
import linecache
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from psyclone_storage.base.diagnostic import CompileError
from psyclone_storage.embedded.invoke import PROGRAM as RUNNING
from psyclone_storage.gocean import configure, fortran_kernel
from psyclone_storage.jit import compile as jit_compile
from psyclone_storage.jit import disk_cache, invokes
from psyclone_storage.jit.session import JitSession
from psyclone_storage.languages.python.parse.closure import call_location_of
from psyclone_storage.lfric import X_plus_Y, setval_X
from psyclone_storage.runtime.gocean import Field, Grid
from support.layers import LAYERS

PROGRAM = '''
from psyclone_storage.gocean import *

FACTOR = 2.0

@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def scale(new: field[GO_READWRITE, GO_CT],
          old: field[GO_READ, GO_CT], by: scalar[GO_READ, GO_R_SCALAR]):
    """Use a number of the module: "ﬁxed"."""
    new[0, 0] = FACTOR * by * old[0, 0] + new[0, 0]

def run(new, old, by):
    invoke(scale(new, old, by), scale(new, old, 0.5))

def run_calls(*calls):
    invoke(*calls)
'''


def restart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin a session: the next invokes are those of another program."""
    monkeypatch.setattr(RUNNING, "_session", {})
    RUNNING.runners.clear()


@pytest.fixture(autouse=True)
def _kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(tmp_path / "kept"))
    configure(distributed=False)
    yield
    configure()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ModuleType]:
    """Return what begins a program anew: nothing is known but what is kept."""

    def begin(text: str = PROGRAM, name: str = "model.py") -> ModuleType:
        file = tmp_path / name
        file.write_text(text, encoding="utf-8")
        linecache.checkcache()
        restart(monkeypatch)
        module = ModuleType("model")
        monkeypatch.setitem(sys.modules, "model", module)
        exec(compile(text, str(file), "exec"), module.__dict__)
        return module

    return begin


def fields(dtype: Any = np.float64) -> tuple[Field, Field]:
    grid = Grid((4, 3))
    values = np.arange(12.0).reshape(4, 3)
    return tuple(Field(grid, values=values + one, dtype=dtype) for one in range(2))  # type: ignore[return-value]


def was_compiled() -> bool:
    return list(RUNNING.session.compiled.values())[-1].build is not None


def test_the_next_program_finds_it(program: Callable[..., ModuleType]) -> None:
    found = []
    for compiled in (True, False):
        new, old = fields()
        program().run(new, old, 3.0)
        assert was_compiled() is compiled
        found.append(new.values)
    assert np.array_equal(*found)
    assert found[0][1, 0] == 2.0 * 3.5 * 4.0 + 3.0


CHANGES = {
    "a number of the module": ("FACTOR = 2.0", "FACTOR = 3.0"),
    "its type": ("FACTOR = 2.0", "FACTOR = 2"),
    "the kernel": ("+ new[0, 0]", "- new[0, 0]"),
    "the call": ("scale(new, old, 0.5)", "scale(new, old, 0.25)"),
    "where it stands": ("def run(", "\ndef run("),
    "what a word stands for": (
        "FACTOR = 2.0",
        "FACTOR = 2.0\nGO_ALL_PTS = GO_INTERNAL_PTS",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_differs_is_compiled_again(change: str, program: Callable[..., ModuleType]) -> None:
    program().run(*fields(), 3.0)
    program(PROGRAM.replace(*CHANGES[change])).run(*fields(), 3.0)
    assert was_compiled()


CALLED = "def inner(x):\n    return x\n\ndef taken(x):\n    return inner(x)\n"


@pytest.mark.parametrize(
    ("change", "compiled"),
    [
        (("return inner(x)", "return -inner(x)"), True),
        (("    return x", "    return -x"), True),
        (("return inner(x)", "return x"), True),
        (("def taken", "X = 3\n\n\ndef taken"), True),
        (("inner(x)\n", "inner(x)\n\n\ndef other(x):\n    return x\n"), False),
    ],
)
def test_functions_of_other_files_that_differ(
    change: tuple[str, str],
    compiled: bool,
    program: Callable[..., ModuleType],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(tmp_path))
    text = PROGRAM.replace("FACTOR = 2.0", "import called_here\nFACTOR = 2.0")
    text = text.replace("by * old[0, 0]", "by * called_here.taken(old[0, 0])")
    for called in (CALLED, CALLED.replace(*change)):
        (tmp_path / "called_here.py").write_text(called)
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, "called_here", raising=False)
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        program(text).run(*fields(), 3.0)
    assert was_compiled() is compiled


def test_arguments_that_are_something_else_are_looked_at_again(
    program: Callable[..., ModuleType],
) -> None:
    new, old = fields()
    program().run(new, old, 3.0)
    with pytest.raises(CompileError, match="more than once"):
        program().run(new, new, 3.0)
    with pytest.raises(TypeError, match="takes a field, not a float"):
        program().run(new, 1.0, 3.0)
    with pytest.raises(TypeError, match="takes a number, not a complex"):
        program().run(new, old, 3j)


def test_numbers_are_those_of_this_program(program: Callable[..., ModuleType]) -> None:
    program().run(*fields(), 3.0)
    new, old = fields()
    program().run(new, old, 5.0)
    assert not was_compiled()
    assert new.values[1, 0] == 2.0 * 5.5 * 4.0 + 3.0
    # Calls that are made elsewhere: their numbers are not those of the text.
    for by in (1.0, 7.0):
        begun = program()
        new, old = fields()
        begun.run_calls(begun.scale(new, old, by))
        assert new.values[1, 0] == 2.0 * by * 4.0 + 3.0


def test_settings_count(tmp_path: Path, program: Callable[..., ModuleType]) -> None:
    program().run(*fields(), 3.0)
    settings = tmp_path / "own.cfg"
    settings.write_text("[DEFAULT]\n", encoding="utf-8")
    configure(distributed=False, config=settings)
    program().run(*fields(), 3.0)
    assert was_compiled()
    settings.write_text("[DEFAULT]\n# something\n", encoding="utf-8")
    program().run(*fields(), 3.0)
    assert was_compiled()
    configure(distributed=False, target="numpy")
    program().run(*fields(), 3.0)
    assert was_compiled()


def test_settings_that_change_meanwhile_are_those_of_the_first_invoke(
    tmp_path: Path, program: Callable[..., ModuleType]
) -> None:
    settings = tmp_path / "own.cfg"
    settings.write_text("[DEFAULT]\nDISTRIBUTED_MEMORY = false\n", encoding="utf-8")
    configure(config=settings)
    program().run(*fields(), 3.0)
    begun = program()
    begun.run(*fields(), 3.0)
    assert not was_compiled()
    settings.write_text("[DEFAULT]\nDISTRIBUTED_MEMORY = true\n", encoding="utf-8")
    begun.run_calls(begun.scale(*fields(), 1.0))
    made = list(RUNNING.session.compiled.values())[-1].build
    assert made is not None
    assert not made.program.invokes[0].schedule.distributed


def test_objects_that_cannot_be_looked_at_are_not_kept(program: Callable[..., ModuleType]) -> None:
    odd = PROGRAM.replace("FACTOR = 2.0", "FACTOR = 2.0\nmodule = 10 ** 9999\n")
    for _ in range(2):
        program(odd).run(*fields(), 3.0)
        assert was_compiled()


def test_recipes_are_not_kept(tmp_path: Path, program: Callable[..., ModuleType]) -> None:
    recipe = tmp_path / "recipe.py"
    recipe.write_text("def trans(psy):\n    pass\n", encoding="utf-8")
    configure(distributed=False, script=recipe)
    for _ in range(2):
        program().run(*fields(), 3.0)
        assert was_compiled()


def test_what_is_kept_may_be_broken(tmp_path: Path, program: Callable[..., ModuleType]) -> None:
    program().run(*fields(), 3.0)
    kept = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    for path in kept:
        path.write_bytes(path.read_bytes()[:-20])
    program().run(*fields(), 3.0)
    assert was_compiled()


def test_nothing_is_kept_without_a_folder(
    monkeypatch: pytest.MonkeyPatch, program: Callable[..., ModuleType]
) -> None:
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", "")
    for _ in range(2):
        program().run(*fields(), 3.0)
        assert was_compiled()


def test_what_is_in_no_file_is_not_kept(tmp_path: Path, program: Callable[..., ModuleType]) -> None:
    for _ in range(2):
        begun = program()
        calls = {"invoke": begun.invoke, "call": begun.scale(*fields(), 3.0)}
        exec(compile("invoke(call)", str(tmp_path / "cell"), "exec"), calls)
        assert was_compiled()


def test_kernels_in_fortran_are_not_kept(tmp_path: Path) -> None:
    calls = [fortran_kernel(tmp_path / "none.f90", "none")()]
    session = JitSession()
    invoke_call = calls, "", call_location_of(sys._getframe()), session.options(api="gocean")
    assert disk_cache.find_entry(session, invoke_call, apart=False) is None


# ---------------------------------------------------------------- what changes while a program runs


def test_a_kernel_that_is_edited_meanwhile_is_the_one_that_was_read_first(
    program: Callable[..., ModuleType],
) -> None:
    other = PROGRAM.replace("+ new[0, 0]", "- new[0, 0]")
    begun, (new, old) = program(), fields()
    begun.run(new, old, 3.0)
    Path(begun.run.__code__.co_filename).write_text(other, encoding="utf-8")
    new, old = fields()
    begun.run_calls(begun.scale(new, old, 3.0))
    assert new.values[1, 0] == 2.0 * 3.0 * 4.0 + 3.0
    for _ in range(2):
        begun, (new, old) = program(other), fields()
        begun.run_calls(begun.scale(new, old, 3.0))
        assert new.values[1, 0] == 2.0 * 3.0 * 4.0 - 3.0
    assert not was_compiled()


def test_a_program_that_is_edited_while_it_is_compiled_is_kept_as_it_was_before(
    tmp_path: Path, program: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    other = PROGRAM.replace("scale(new, old, by), scale(new, old, 0.5)",
                            "scale(old, new, by), scale(old, new, 0.5)")  # fmt: skip
    usual = jit_compile._kernel

    def edited(*about: Any) -> Any:
        (tmp_path / "model.py").write_text(other, encoding="utf-8")
        linecache.checkcache()
        return usual(*about)

    begun = program()
    monkeypatch.setattr(jit_compile, "_kernel", edited)
    begun.run(*fields(), 3.0)
    made = list(RUNNING.session.compiled.values())[-1].build
    assert made is not None
    names = [datum.name for datum in made.program.invokes[0].schedule.data]
    assert names.index("new") < names.index("old")
    program().run(*fields(), 3.0)
    assert not was_compiled()


def test_a_constant_may_change_its_type(
    program: Callable[..., ModuleType],
) -> None:
    of_two, of_half = (PROGRAM.replace("FACTOR = 2.0", f"FACTOR = {one}") for one in ("2", "3.5"))
    begun = program(of_two)
    begun.run(*fields(), 3.0)
    begun.FACTOR = 3.5  # type: ignore[attr-defined]
    new, old = fields()
    begun.run_calls(begun.scale(new, old, 3.0))
    assert new.values[1, 0] == 3.5 * 3.0 * 4.0 + 3.0
    # The same file, in which the constant is what its program makes it.
    begun, (new, old) = program(of_two), fields()
    begun.FACTOR = 3.5  # type: ignore[attr-defined]
    begun.run_calls(begun.scale(new, old, 3.0))
    assert new.values[1, 0] == 3.5 * 3.0 * 4.0 + 3.0
    begun, (new, old) = program(of_half), fields()
    begun.run_calls(begun.scale(new, old, 3.0))
    assert new.values[1, 0] == 3.5 * 3.0 * 4.0 + 3.0


# ---------------------------------------------------------------- what is looked at


def test_names_may_have_characters_that_words_do_not(program: Callable[..., ModuleType]) -> None:
    text = PROGRAM.replace("FACTOR", "fa·ctor")
    program(text).run(*fields(), 3.0)
    begun = program(text)
    begun.__dict__["fa·ctor"] = 2
    begun.run(*fields(), 3.0)
    assert was_compiled()


@pytest.mark.parametrize("programs", ["one", "several"])
def test_how_arguments_divide_among_calls_counts(programs: str) -> None:
    a, b, c, d, e = (SimpleNamespace() for _ in range(5))
    frame, session, found = sys._getframe(), JitSession(), list[Any]()
    for first, second in (((a, b, c), (d, e)), ((a, b, c), (d, e)), ((a, b), (c, d, e))):
        calls = X_plus_Y(*first), setval_X(*second)
        try:
            session = JitSession() if programs == "several" else session
            options = session.options(api="lfric")
            made = invokes.compiled_invoke(session, calls, "", frame, options)
            found.append(made.build is None)
        except TypeError as error:
            found.append(str(error))
    refused = "The kernel 'X_plus_Y' takes 3 arguments, but is given 2."
    assert found == [False, programs == "several", refused]


class WithoutLabel(Field):  # type: ignore[misc]
    """A field that cannot be asked what it is called."""

    def __getattribute__(self, name: str) -> Any:
        if name == "label":
            raise RuntimeError
        return super().__getattribute__(name)


def test_an_argument_that_cannot_be_looked_at_is_not_kept(
    program: Callable[..., ModuleType],
) -> None:
    for _ in range(2):
        new, old = fields()
        program().run(new, WithoutLabel(old.grid, values=old.values), 3.0)
        assert was_compiled()
        assert new.values[1, 0] == 2.0 * 3.5 * 4.0 + 3.0


def test_nothing_is_kept_by_a_tool_that_is_not_known(
    program: Callable[..., ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_cache, "tool_digest", lambda _, **__: "")
    for _ in range(2):
        program().run(*fields(), 3.0)
        assert was_compiled()


def test_the_compiler_imports_no_subpackage_outside_the_digest() -> None:
    imported, waiting = set(), {"jit"}
    while waiting:
        imported |= waiting
        waiting = set().union(*map(LAYERS.__getitem__, waiting)) - imported
    folders = {one for one in LAYERS if Path(disk_cache.__file__).parents[1].joinpath(one).is_dir()}
    # The routines call functions of `runtime`, whose parameters may change.
    assert folders - imported == {*disk_cache.UNUSED, "runtime"}


@pytest.mark.parametrize("shared", ["kept", "kept/*", "kept/*/*"])
def test_what_others_may_write_is_ignored(
    tmp_path: Path, program: Callable[..., ModuleType], shared: str
) -> None:
    """Planted code is not run: each entry is that of a kernel with another result."""
    program().run(*fields(), 3.0)
    entries = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    for path in entries:
        data = zlib.decompress(path.read_bytes())
        path.write_bytes(
            zlib.compress(data.replace(b"def invoke", b"raise SystemExit\ndef invoke"))
        )
    for path in tmp_path.glob(shared):
        path.chmod(0o777)
    with pytest.warns(RuntimeWarning, match=r"Cached invokes are ignored.*mode 0777.*Set PSYCLONE"):
        program().run(*fields(), 3.0)
    assert was_compiled()
