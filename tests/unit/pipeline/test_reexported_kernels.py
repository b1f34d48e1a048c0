"""Kernels in Python that modules import from each other: ahead of time as in Python itself."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from command import run_command
from python_kernels import printed_by

WORDS = "from psyclone_storage.gocean import *\n"
KERNEL = """
@kernel(iterates_over=GO_ALL_PTS, index_offset=GO_OFFSET_ANY)
def {}(new: field[GO_WRITE, GO_CT]):
    new[0, 0] = {}
"""
K = KERNEL.format("k", "1.0")
OTHER = KERNEL.format("k", "2.0")
SCALE = "SCALE = 3.0\n" + KERNEL.format("k", "SCALE")

# The import in the algorithm, the called name, the other files, and the value of the kernel that
# Python calls; None if Python raises an error.
CASES: dict[str, tuple[str, str, dict[str, str], str | None]] = {
    "by name": ("mid import k", "k", {"mid.py": "from kernels import k", "kernels.py": K}, "1"),
    "whole": ("mid import *", "k", {"mid.py": "from kernels import *", "kernels.py": K}, "1"),
    "renamed": (
        "mid import b as c",
        "c",
        {"mid.py": "from low import a as b", "low.py": "from kernels import k as a",
         "kernels.py": K},
        "1",
    ),
    "package": (
        "pkg import k",
        "k",
        {"pkg/__init__.py": "from .kernels import k", "pkg/kernels.py": SCALE, "kernels.py": OTHER},
        "3",
    ),
    "package of packages": (
        "pkg import *",
        "k",
        {"pkg/__init__.py": "from .low import *", "pkg/low/__init__.py": "from ..kernels import k",
         "pkg/kernels.py": SCALE},
        "3",
    ),
    "absolute in a package": (
        "pkg import k",
        "k",
        {"pkg/__init__.py": "from kernels import k", "pkg/kernels.py": K, "kernels.py": OTHER},
        "2",
    ),
    "package before module": (
        "pkg import k",
        "k",
        {"pkg/__init__.py": "from .kernels import *", "pkg/kernels/__init__.py": K,
         "pkg/kernels.py": OTHER},
        "1",
    ),
    "from the package itself": (
        "pkg.mid import k",
        "k",
        {"pkg/__init__.py": K, "pkg/mid.py": "from . import k"},
        "1",
    ),
    "cycle": (
        "mid import *",
        "k",
        {"mid.py": "from low import *\n" + WORDS + K, "low.py": "from mid import *"},
        "1",
    ),
    "cycle without kernel": (
        "mid import k",
        "k",
        {"mid.py": "from low import k", "low.py": "from mid import k"},
        None,
    ),
    "whole after a name": (
        "kernels import k\nfrom other import *", "k", {"kernels.py": K, "other.py": OTHER}, "2",
    ),
    "whole before a name": (
        "other import *\nfrom kernels import k", "k", {"kernels.py": K, "other.py": OTHER}, "1",
    ),
    "whole after a name, of the same kernel": (
        "kernels import k\nfrom mid import *",
        "k",
        {"kernels.py": K, "mid.py": "from kernels import *"},
        "1",
    ),
    "whole after a name, through a module": (
        "kernels import k as c\nfrom mid import *\nfrom last import *",
        "c",
        {"kernels.py": K, "mid.py": "from low import a as c", "last.py": "from low import k",
         "low.py": SCALE.replace("def k", "def a") + OTHER},
        "3",
    ),
    "whole after a name, of others": (
        "kernels import k\nfrom other import *",
        "k",
        {"kernels.py": K, "other.py": "__all__ = []\n" + WORDS + OTHER},
        "1",
    ),
    "another name": (
        "kernels import k\nc = k\nd = c", "d", {"kernels.py": K}, "1",
    ),
    "another name of a renamed kernel": (
        "kernels import k as b\nc = b", "c", {"kernels.py": K}, "1",
    ),
    "another name in a module": (
        "mid import c", "c", {"mid.py": "from kernels import k\nc = k", "kernels.py": K}, "1",
    ),
    "another name of a kernel of the module": (
        "mid import *", "c", {"mid.py": K + "\n\nc = k\n\n\ndel k"}, "1",
    ),
    "another name before a second import": (
        "mid import c",
        "c",
        {"mid.py": "from kernels import k\nc = k\nfrom other import k", "kernels.py": K,
         "other.py": OTHER},
        "1",
    ),
    "another name after a second import": (
        "mid import c",
        "c",
        {"mid.py": "from kernels import k\nfrom other import k\nc = k", "kernels.py": K,
         "other.py": OTHER},
        "2",
    ),
    "the last import": (
        "mid import k",
        "k",
        {"mid.py": "from low import k\nfrom kernels import *", "low.py": K, "kernels.py": OTHER},
        "2",
    ),
    "the last definition": (
        "mid import k",
        "k",
        {"mid.py": "from kernels import *\n" + WORDS + K, "kernels.py": OTHER},
        "1",
    ),
    "hidden by a value": (
        "mid import k",
        "k",
        {"mid.py": "from kernels import k\nk = 1", "kernels.py": K},
        None,
    ),
    "optional": (
        "mid import k",
        "k",
        {"mid.py": "try:\n    from kernels import k\nexcept ImportError:\n    k = None",
         "kernels.py": K},
        "1",
    ),
    "optional with another": (
        "mid import k",
        "k",
        {"mid.py": "try:\n    from fast import k\nexcept ImportError:\n    from slow import k",
         "fast.py": K, "slow.py": OTHER},
        "1",
    ),
    "optional and missing": (
        "mid import k",
        "k",
        {"mid.py": "try:\n    from fast import k\nexcept ModuleNotFoundError:\n"
                   "    from slow import k",
         "slow.py": OTHER},
        "2",
    ),
    "optional after another": (
        "mid import k",
        "k",
        {"mid.py": "from slow import k\ntry:\n    from fast import k\nexcept:\n    pass",
         "slow.py": OTHER},
        "2",
    ),
    "same on both branches": (
        "mid import k",
        "k",
        {"mid.py": "if 1 > 0:\n    from low import k\nelse:\n    from kernels import k",
         "low.py": "from kernels import *", "kernels.py": K},
        "1",
    ),
    "both branches replaced": (
        "mid import k",
        "k",
        {"mid.py": "if 1 > 0:\n    from low import k\nelse:\n    k = 1\nfrom kernels import k",
         "low.py": OTHER, "kernels.py": K},
        "1",
    ),
    "match": (
        "mid import k",
        "k",
        {"mid.py": "match 1:\n    case _:\n        from kernels import k", "kernels.py": K},
        "1",
    ),
    "subscripts and local names": (
        "mid import k",
        "k",
        {"mid.py": "from kernels import k\nD = {}\nD[id(k)] = D['k'] = 1\nD[k] = 1\n"
                   "L = [k for k in (1, 2)]\nk: int",
         "kernels.py": K},
        "1",
    ),
    "two ways": (
        "mid import *\nfrom kernels import *",
        "k",
        {"mid.py": "from kernels import *", "kernels.py": K},
        "1",
    ),
    "empty list": ("kernels import *", "k", {"kernels.py": "__all__ = []\n" + K}, None),
    "list": ("kernels import *", "k", {"kernels.py": "__all__ = ['k']\n" + K}, "1"),
    "longer list": (
        "kernels import *", "k", {"kernels.py": "__all__ = []\n__all__ += ['k']\n" + K}, "1",
    ),
    "list on the way": (
        "mid import *", "k", {"mid.py": "from low import *", "low.py": "__all__ = ()\n" + K}, None,
    ),
    "list by name": ("kernels import k", "k", {"kernels.py": "__all__ = []\n" + K}, "1"),
    "private": ("kernels import *", "_k", {"kernels.py": KERNEL.format("_k", "1.0")}, None),
    "renamed private": (
        "mid import *",
        "k",
        {"mid.py": "from kernels import a as _k, a as k", "kernels.py": KERNEL.format("a", "4.0")},
        "4",
    ),
    "misspelt": ("mid import *", "k", {"mid.py": "from kernels import c", "kernels.py": K}, None),
}  # fmt: skip

# Runs the algorithm in a process, and then the generated files.
PROGRAM = """
import sys
from psyclone_storage.gocean import configure
from psyclone_storage.runtime.gocean import Field, Grid
configure(target="numpy")
for where in ("{folder}", "{folder}/out"):
    before = set(sys.modules)
    sys.path.insert(0, where)
    from alg import run
    a = Field(Grid((3, 2)))
    run(a)
    assert (a.values == a.max()).all()
    print(a.max())
    for name in set(sys.modules) - before:
        del sys.modules[name]
"""


@pytest.fixture(params=sorted(CASES))
def program(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str | None]:
    imports, called, files, value = CASES[request.param]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(WORDS + text + "\n")
    (tmp_path / "alg.py").write_text(
        f"{WORDS}from {imports}\n\n\ndef run(new):\n    invoke({called}(new))\n"
    )
    return tmp_path, value


def test_as_python_imports(program: tuple[Path, str | None]) -> None:
    folder, value = program
    done = run_command(["alg.py", "--target", "numpy", "--output-dir", "out"], folder)
    if value is None:
        assert done.status == 1
        assert done.err.startswith(("error[S110]", "error[P040]"))
        return
    assert done.err == ""
    text = PROGRAM.format(folder=str(folder))
    assert printed_by(text) == f"{value}.0\n" * 2


# The value of the kernel that Python calls, or None if the kernel is unknown before the program
# runs; the statements before a function; those in the function, with '|' between lines.
NAMED: dict[str, tuple[str | None, str, str]] = {
    "of a module": ("1", "import fast|c = fast.k", "invoke(c(new))"),
    "of a renamed module": ("2", "import slow as s|c = s.k", "invoke(c(new))"),
    "of a module of a package": (
        "3",
        "from pkg import low|import pkg.low as c|d = low.k",
        "invoke(d(new))",
    ),
    "of a dotted module": ("3", "import pkg.low|d = pkg.low.k", "invoke(d(new))"),
    "with an annotation": ("1", "import fast|c: object = fast.k", "invoke(c(new))"),
    "in a function": ("1", "from fast import k", "c = k|invoke(c(new))"),
    "of a module in a function": ("1", "", "import fast|c = d = fast.k|invoke(d(new))"),
    "around a function": (
        "2",
        "from slow import k",
        "c = k|def inner():|    invoke(c(new))|inner()",
    ),
    "hidden in another function": (
        "2",
        "from slow import k|c = k|def other(c):|    k = 1",
        "invoke(c(new))",
    ),
    "a class": (
        "2",
        "from slow import k|class A:|    k = 1|    def run(self, new):|        invoke(k(new))",
        "A().run(new)",
    ),
    "global": (None, "from fast import k|import slow", "global k|k = slow.k|invoke(k(new))"),
    "nonlocal": (
        None,
        "import fast, slow",
        "c = fast.k|def inner():|    nonlocal c|    c = slow.k|inner()|invoke(c(new))",
    ),
    "argument": (
        None,
        "import slow|from fast import k|def use(new, k):|    invoke(k(new))",
        "use(new, slow.k)",
    ),
    "of an argument": (
        None,
        "import slow|from fast import k|def use(new, k):|    c = k|    invoke(c(new))",
        "use(new, slow.k)",
    ),
    "condition": (
        None,
        "import slow|from fast import k|if 1 > 0:|    k = slow.k",
        "invoke(k(new))",
    ),
    "loop": (None, "import slow|from fast import k", "for k in (slow.k,):|    invoke(k(new))"),
    "expression": (None, "import fast, slow|c = slow.k if 1 > 0 else fast.k", "invoke(c(new))"),
    "whole import": (None, "import slow|from fast import *|k = slow.k", "invoke(k(new))"),
    "itself": (None, "import fast|c = d|d = c", "invoke(c(new))"),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_names_that_statements_give_to_kernels(name: str, tmp_path: Path) -> None:
    value, before, body = (text and text.replace("|", "\n") for text in NAMED[name])
    text = f"{before}\ndef run(new):\n{textwrap.indent(body or '', '    ')}"
    files = {"fast.py": K, "slow.py": OTHER, "pkg/__init__.py": "", "pkg/low.py": SCALE}
    for file, content in {**files, "alg.py": text}.items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(f"{WORDS}{content}\n")
    done = run_command(["alg.py", "--target", "numpy", "--output-dir", "out"], tmp_path)
    if value is None:
        assert done.status == 1
        assert done.err.startswith(("error[S110]", "error[P032]"))
        return
    assert done.err == ""
    program = PROGRAM.format(folder=str(tmp_path))
    assert printed_by(program) == f"{value}.0\n" * 2


FROM_SLOW = "    from slow import k"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"if FAST:\n    from fast import k\nelse:\n{FROM_SLOW}", 4),
        (f"from fast import k\nif TYPE_CHECKING:\n{FROM_SLOW}", 3),
        (f"from fast import k\nif False:\n{FROM_SLOW}", 3),
        (f"from fast import k\nif __name__ == '__main__':\n{FROM_SLOW}", 3),
        (f"from fast import k\nfor _ in ():\n{FROM_SLOW}", 3),
        (f"from fast import k\nwhile False:\n{FROM_SLOW}", 3),
        (f"from fast import k\nwith suppress(ImportError):\n{FROM_SLOW}", 3),
        (f"from fast import k\nmatch 1:\n  case 2:\n{FROM_SLOW}", 4),
        (f"try:\n    from fast import k\nexcept* ImportError:\n{FROM_SLOW}", 4),
        (f"try:\n    from fast import k\nexcept ValueError:\n{FROM_SLOW}", 4),
        (f"try:\n    import fast\n    from fast import k\nexcept ImportError:\n{FROM_SLOW}", 5),
        ("from fast import k\nif FAST:\n    k = None", 3),
        ("from fast import k\nif FAST:\n    k += 1", 3),
        ("from fast import k\nif FAST:\n    import slow as k", 3),
        ("from fast import k\nif (k := FAST):\n    pass", 2),
    ],
)
def test_kernels_that_depend_on_a_condition_are_refused(
    text: str, line: int, tmp_path: Path
) -> None:
    (tmp_path / "alg.py").write_text(f"{WORDS}from mid import k\ninvoke(k(new))\n")
    (tmp_path / "mid.py").write_text(f"{text}\n")
    (tmp_path / "fast.py").write_text(WORDS + K)
    (tmp_path / "slow.py").write_text(WORDS + OTHER)
    done = run_command(["alg.py", "--target", "numpy", "--output-dir", "out"], tmp_path)
    assert done.status == 1
    message, place = done.err.splitlines()[:2]
    assert message == "error[P040]: 'k' of 'mid.py' depends on a condition."
    assert place.startswith(f"  --> mid.py:{line}:")
    assert "Import or define 'k' without a condition." in done.err


@pytest.mark.parametrize(
    "text",
    ["k += 1", "k: int = 1", "for k in (1,):\n    pass", "with FAST as k:\n    pass",
     "import fast as k", "(k := 1)", "def k():\n    pass", "class k:\n    pass", "del k"],
)  # fmt: skip
def test_other_bindings_hide_kernels(text: str, tmp_path: Path) -> None:
    (tmp_path / "alg.py").write_text(f"{WORDS}from mid import k\ninvoke(k(new))\n")
    (tmp_path / "mid.py").write_text(f"from fast import k\n{text}\n")
    (tmp_path / "fast.py").write_text(WORDS + K)
    done = run_command(["alg.py", "--target", "numpy", "--output-dir", "out"], tmp_path)
    assert done.status == 1
    assert done.err.startswith(("error[S110]", "error[P040]"))


def test_kernels_of_two_whole_imports_are_refused(tmp_path: Path) -> None:
    (tmp_path / "alg.py").write_text(
        f"{WORDS}from fast import *\nfrom slow import *\ninvoke(k(new))\n"
    )
    (tmp_path / "fast.py").write_text(WORDS + K)
    (tmp_path / "slow.py").write_text(WORDS + OTHER)
    done = run_command(["alg.py", "--target", "numpy", "--output-dir", "out"], tmp_path)
    assert done.status == 1
    assert done.err.startswith("error[P032]: The kernel 'k' could be in 'fast.py' and 'slow.py'.")
    assert "Import 'k' by name" in done.err


@pytest.mark.parametrize(
    "imports",
    [
        "from slow import k\nfrom fast import k",
        "if False:\n    from slow import k\nelse:\n    from fast import k",
        "from slow import k\nfrom fast import q as k",
    ],
)
def test_a_kernel_that_is_imported_twice_is_refused(imports: str, tmp_path: Path) -> None:
    (tmp_path / "alg.py").write_text(f"{WORDS}{imports}\ninvoke(k(new))\n")
    (tmp_path / "fast.py").write_text(WORDS + K)
    (tmp_path / "slow.py").write_text(WORDS + OTHER)
    done = run_command(["alg.py", "--target", "numpy", "--output-dir", "out"], tmp_path)
    assert done.status == 1
    assert done.err.startswith(
        "error[P032]: The kernel 'k' is imported more than once: from 'slow' and 'fast'."
    )
    assert "imported again here" in done.err


def test_results_depend_on_every_module_of_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PSYCLONE_STORAGE_CACHE", str(tmp_path / "kept"))
    (tmp_path / "pkg").mkdir()
    (tmp_path / "alg.py").write_text(f"{WORDS}from pkg import k\ninvoke(k(new))\n")
    (tmp_path / "pkg" / "__init__.py").write_text("from .one import k\n")
    (tmp_path / "pkg" / "one.py").write_text(WORDS + K)
    (tmp_path / "pkg" / "two.py").write_text(WORDS + OTHER)
    words = ["alg.py", "--target", "numpy", "--output-dir", "out", "--depfile", "out/made.d"]
    first = run_command(words, tmp_path).written
    assert all(name in first["out/made.d"] for name in ("pkg/__init__.py", "pkg/one.py"))
    (tmp_path / "pkg" / "__init__.py").write_text("from .two import k\n")
    second = run_command(words, tmp_path).written
    assert "1.0" in first["out/alg_psy.py"]
    assert "2.0" in second["out/alg_psy.py"]


def test_missing_modules_are_named_where_they_are_imported(tmp_path: Path) -> None:
    (tmp_path / "alg.py").write_text(f"{WORDS}from mid import k\ninvoke(k(new))\n")
    (tmp_path / "mid.py").write_text("from kernels import k\n")
    done = run_command(["alg.py"], tmp_path)
    assert done.err.splitlines()[:2] == [
        "error[P031]: The kernel 'k' is imported from 'kernels', which is not found.",
        "  --> mid.py:1:21",
    ]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernels.py").write_text(f"# {name}\n{WORDS}{K}")
    done = run_command(["alg.py"], tmp_path)
    assert "which could be in 'a/kernels.py' and 'b/kernels.py'." in done.err


@pytest.mark.parametrize("others", [{}, {"alg.py": WORDS + OTHER}])
def test_a_kernel_of_the_algorithm_needs_no_folder(others: dict[str, str], tmp_path: Path) -> None:
    """An algorithm uses its own kernel, although '-d' names another folder."""
    (tmp_path / "kernels").mkdir()
    for name, text in others.items():
        (tmp_path / "kernels" / name).write_text(text)
    (tmp_path / "alg.py").write_text(f"{WORDS}{K}invoke(k(new))\n")
    words = ["alg.py", "-d", "kernels", "--target", "numpy", "--output-dir", "out"]
    done = run_command(words, tmp_path)
    assert done.err == ""
    assert "1.0" in done.written["out/alg_psy.py"]


def test_modules_import_kernels_in_fortran(tmp_path: Path) -> None:
    folder = Path(__file__).parents[3] / "examples" / "gocean" / "shallow_water" / "kernels"
    (tmp_path / "mid.py").write_text("from continuity_mod import continuity as flow\n")
    (tmp_path / "alg.py").write_text(
        f"{WORDS}from mid import flow\ninvoke(flow(a, b, c, d, e, dt))\n"
    )
    words = ["alg.py", "-d", ".", "-d", str(folder), "--target", "numpy", "--output-dir", "out"]
    done = run_command(words, tmp_path)
    assert done.err == ""
    assert "continuity" in done.written["out/alg_psy.py"]
