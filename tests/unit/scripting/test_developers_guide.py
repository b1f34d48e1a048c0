"""Each section of the developers' guide is verified by one test with its name.

The guide is `docs/guide/developers-guide.md`. A heading there without a test here or in
`test_guide_lfric` is a failure, and so is a test without a heading.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from command import run_command
from psyclone_storage.base.diagnostic import CompileError, InternalError
from psyclone_storage.config.load import default_settings
from psyclone_storage.ir.kernel import Access
from psyclone_storage.scripting import (
    DataAccess,
    HaloExchange,
    KernelCall,
    Loop,
    Schedule,
)
from psyclone_storage.scripting import f2pygen as gen
from psyclone_storage.scripting.errors import TransformationError
from psyclone_storage.scripting.transformations.base import RegionTrans
from psyclone_storage.scripting.transformations.table import TRANSFORMATIONS
from psyclone_storage.targets.apis import api_parts, targets_of
from psyclone_storage.tools.factories import KernelTypeFactory, PSyFactory, parse
from psyclone_storage.transform.move import MoveStatement
from unit.analysis.small import built_in, cells, dofs, operator, scalar
from unit.scripting import test_guide_lfric as on_lfric
from unit.scripting.guide_layers import (
    CORPUS,
    KERNELS,
    ROOT,
    as_in_a_script,
    layer,
    one,
    small,
)

GUIDE = ROOT / "docs" / "guide" / "developers-guide.md"
HEADING = re.compile(r"^##+ (.+)$", re.MULTILINE)


def slug(title: str) -> str:
    """Return what a test of the section `title` is called."""
    return re.sub(r"\W+", "_", title.lower()).strip("_")


def test_each_section_of_the_guide_has_a_test() -> None:
    sections = [slug(title) for title in HEADING.findall(GUIDE.read_text(encoding="utf-8"))]
    assert len(sections) > 30
    names = {*globals(), *vars(on_lfric)} - {"test_each_section_of_the_guide_has_a_test"}
    tests = {name.removeprefix("test_") for name in names if name.startswith("test_")}
    assert set(sections) == tests
    assert len(sections) == len(tests)


# ---------------------------------------------------------------------------- how the project works


def test_installation() -> None:
    """One command makes the environment, and nothing has to be fetched besides."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"pip install .*-e '\.", makefile)
    assert not (ROOT / ".gitmodules").exists()


def test_test_suite(pytestconfig: pytest.Config) -> None:
    """Every test has a place, and no marker is invented."""
    assert pytestconfig.getini("testpaths") == ["tests"]
    assert {"fortran", "mpi"} <= {
        line.partition(":")[0].partition("(")[0] for line in pytestconfig.getini("markers")
    }


def test_parallel_execution(pytestconfig: pytest.Config) -> None:
    """Tests run on several cores, and `make test` asks for that."""
    assert pytestconfig.pluginmanager.hasplugin("xdist")
    assert "pytest -n $(WORKERS)" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_gotchas() -> None:
    """No two tests of a module have one name: pytest would leave the first one out."""
    twice = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        body = ast.parse(file.read_text(encoding="utf-8")).body
        functions = [item.name for item in body if isinstance(item, ast.FunctionDef)]
        if again := [name for name, count in Counter(functions).items() if count > 1]:
            twice[file.name] = again
    assert twice == {}


def test_compilation_testing(pytestconfig: pytest.Config) -> None:
    """The words of the seed are options here, from any directory."""
    assert isinstance(pytestconfig.getoption("--compile"), bool)
    assert pytestconfig.getoption("--f90")
    assert pytestconfig.getoption("--f90flags") is not None


def test_continuous_integration() -> None:
    """A test that cannot run is a failure there."""
    run = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    required = re.search(r'required="--require ([\w,]+)"', run)
    assert required
    assert {"fortran", "mpi", "differential"} <= set(required[1].split(","))
    assert re.search(r'make test PYTEST_ARGS="\$required[" ]', run)


# ---------------------------------------------------------------------------- dependences


def test_dependence_analysis() -> None:
    """A loop that reads what another writes stays behind it, and the graph says so."""
    tree = small(cells("a read w3", "b write w3"), cells("b read w3", "c write w3"))
    first, second = tree.loops()
    assert second.backward_dependence() == first
    written, read = first.kernels()[0].args[1], second.kernels()[0].args[0]
    assert written.forward_dependence() == read
    assert read.backward_dependence() == written
    assert not second.is_valid_location(first)
    assert f'"{first.uid}" -> "{second.uid}" [label="b"' in tree.dag()
    total = small(built_in(scalar("s"), "u read w3")).reductions()[0].args[0]
    combined = total.forward_dependence()
    assert combined is not None
    assert (combined.name, combined.use.statement) == ("s", "reduce(s)@loop1")


def test_arguments_of_calls() -> None:
    """`kern.arguments.args` are objects, in the order of metadata, constants among them."""
    calls = one("scalars_as_literals").kernels()
    call = next(item for item in calls if any(arg.is_literal for arg in item.arguments.args))
    assert len(call.arguments.args) == len(call.accesses)
    assert call.arguments.names == [arg.name for arg in call.arguments.args]
    literal = next(arg for arg in call.arguments.args if arg.is_literal)
    assert (literal.is_scalar, literal.intent, literal.components) == (True, "in", ())
    assert not any(DataAccess(literal).overlaps(arg) for arg in call.arguments.args)
    tree = small(cells("u inc w2", "v read w3 stencil 1", operator("op", "read")))
    u, v, op = tree.kernels()[0].arguments.args
    assert (u.access, u.intent, u.kind, u.vector_size) == ("inc", "inout", "field", 1)
    assert u.function_space
    assert u.function_space.orig_name == "w2"
    assert (v.stencil, v.intent, v.call) == ("cross", "in", tree.kernels()[0])
    assert (op.kind, op.is_scalar) == ("operator", False)


def test_forward_and_backward_dependences() -> None:
    """Reads of a value end where it is overwritten; writes before a read end where all is made."""
    tree = small(
        dofs("u write w3"),
        dofs("u read w3", "v write w3"),
        dofs("u read w3", "w write w3"),
        dofs("u write w3"),
        dofs("u read w3", "x write w3"),
    )
    first, second, third, fourth, fifth = (call.args[0] for call in tree.kernels())
    assert first.forward_read_dependencies() == [second, third]
    assert first.forward_write_dependencies() == []
    assert second.forward_write_dependencies() == [fourth]
    assert third.backward_write_dependencies() == [first]
    assert fourth.backward_read_dependencies() == [third, second]
    assert first.forward_dependence() == second
    assert second.forward_dependence() == fourth
    assert fifth.forward_dependence() is None
    # What a step does to the schedule is seen by arguments that were asked for before.
    tree.apply(MoveStatement("loop3", "loop2"))
    assert first.forward_dependence() == third


def vector() -> Schedule:
    """Return a kernel that reads a vector of three with a stencil, behind its exchanges."""
    return one("vector_stencil_bundle")


def test_overlap() -> None:
    """Exchanges of different components do not overlap; each overlaps with the kernel."""
    tree = vector()
    parts = [exchange.args[0] for exchange in tree.walk(HaloExchange)]
    whole = tree.kernels()[0].args[1]
    assert [part.components for part in parts] == [(1,), (2,), (3,)]
    assert not DataAccess(parts[0]).overlaps(parts[1])
    assert all(DataAccess(part).overlaps(whole) for part in parts)
    assert not DataAccess(whole).overlaps(tree.kernels()[0].args[0])


def test_coverage() -> None:
    """The seed's example, on the exchanges that the compiler has placed."""
    tree = vector()
    f1_index1, f1_index2, f1_index3 = (part.args[0] for part in tree.walk(HaloExchange))
    access = DataAccess(tree.kernels()[0].args[1])
    access.update_coverage(f1_index1)
    assert not access.covered
    access.update_coverage(f1_index2)
    assert not access.covered
    access.update_coverage(f1_index3)
    assert access.covered
    with pytest.raises(InternalError, match="second halo exchange"):
        access.update_coverage(f1_index2)
    access.reset_coverage()
    assert not access.covered
    # What dependences do with it: the kernel waits for all three.
    found = tree.kernels()[0].args[1].backward_write_dependencies()
    assert sorted(arg.components for arg in found) == [(1,), (2,), (3,)]
    assert tree.kernels()[0].args[1].backward_write_dependencies(ignore_halos=True) == []


# ---------------------------------------------------------------------------- new APIs


def test_reading_an_algorithm() -> None:
    """`parse` gives what the invokes call, with the metadata behind each."""
    parsed, info = parse(CORPUS / "halo_increment_then_stencil.x90", "dynamo0.3",
                         kernel_path=str(KERNELS))  # fmt: skip
    assert parsed.unit.name == info.name
    (invoke,) = info.calls
    assert [call.name for call in invoke.kcalls] == [item.name for item in parsed.invokes[0].calls]
    call = invoke.kcalls[0]
    assert (call.type, call.module_name) == ("kernelCall", "wind_tendency_kernel_mod")
    assert call.ktype.nargs == len(call.args)
    assert {arg.form for arg in call.args} <= {"variable", "literal", "indexed_variable"}
    with pytest.raises(CompileError, match="no API 'dynamo9'"):
        parse(CORPUS / "halo_increment_then_stencil.x90", "dynamo9")
    with pytest.raises(CompileError, match="cannot be called 'spawn'"):
        parse(CORPUS / "halo_increment_then_stencil.x90", kernel_path=KERNELS, invoke_name="spawn")
    with pytest.raises(CompileError, match="takes no 'kernel_pth'"):
        parse(CORPUS / "halo_increment_then_stencil.x90", kernel_pth=KERNELS)


METADATA = """\
module flux_kernel_mod
  use argument_mod
  use kernel_mod
  type, extends(kernel_type) :: flux_kernel_type
    type(arg_type) :: meta_args(2) = (/ &
      arg_type(gh_field*3, gh_real, gh_read, w2, stencil(cross)), &
      arg_type(gh_field, gh_real, gh_write, w3) /)
    integer :: operates_on = cell_column
  contains
    procedure, nopass :: flux_code
  end type
contains
  subroutine flux_code()
  end subroutine
end module
"""


def test_kernel_types_and_descriptors() -> None:
    """`KernelTypeFactory` reads metadata into descriptors, and refuses what does not fit."""
    kernel = KernelTypeFactory("lfric").create(METADATA)
    assert (kernel.name, kernel.iterates_over) == ("flux_kernel_type", "cell_column")
    assert (kernel.procedure, kernel.nargs) == ("flux_code", 2)
    first, second = kernel.arg_descriptors
    assert (first.access, first.argument_type, first.vector_size) == ("read", "field", 3)
    assert first.function_space
    assert (first.function_space.orig_name, first.stencil, first.mesh) == ("w2", "cross", None)
    assert (second.access, second.stencil, second.metadata_index) == ("write", None, 1)
    with pytest.raises(CompileError) as caught:
        KernelTypeFactory("lfric").create(METADATA.replace("gh_write, w3", "gh_inc, w3"))
    assert [problem.code for problem in caught.value.problems] == ["M010"]
    with pytest.raises(CompileError, match="holds 0 kernels"):
        KernelTypeFactory("gocean").create(METADATA.replace("extends(kernel_type)", "public"))
    file = KERNELS / "wind_tendency_kernel_mod.f90"
    assert KernelTypeFactory("dynamo0.3").create(file).kernel.module == file.stem


def test_the_psy_layer() -> None:
    """`PSyFactory` makes schedules that steps change, and `gen` prints what they are then."""
    _, info = parse(CORPUS / "halo_increment_then_stencil.x90", kernel_paths=[KERNELS])
    psy = PSyFactory(distributed_memory=True).create(info)
    schedule = psy.invokes.invoke_list[0].schedule
    assert "halo_exchange(" in psy.gen
    assert "!$omp" not in psy.gen
    schedule.apply("colour; openmp-parallel-do")
    assert psy.gen.count("!$omp parallel do") >= 1
    # Other schedules of the same algorithm, as it was read.
    serial = PSyFactory("lfric", distributed_memory=False).create(info)
    assert "halo_exchange(" not in serial.gen
    assert "!$omp" not in serial.gen
    with pytest.raises(CompileError, match="parsed for another API"):
        PSyFactory("gocean").create(info)


def test_an_api_of_one_s_own() -> None:
    """An API is a row of parts: metadata get another meaning, and all stages follow it."""
    api = default_settings().api
    lfric, target = api_parts(api), next(iter(targets_of(api).values()))

    def careful(parsed: object, settings: object) -> object:
        """Take every field that is written for one that is read before."""
        kernel = lfric.interpret(parsed, settings)  # type: ignore[arg-type]
        args = tuple(
            replace(arg, access=Access.READWRITE) if arg.access is Access.WRITE else arg
            for arg in kernel.args
        )
        return replace(kernel, args=args)

    row = (replace(lfric, interpret=careful), target)  # type: ignore[arg-type]
    name, paths = CORPUS / "access_write_mixed_continuity.x90", [KERNELS]
    usual = PSyFactory(distributed_memory=True).create(parse(name, kernel_paths=paths)[1])
    other = PSyFactory(row, distributed_memory=True).create(parse(name, row, kernel_paths=paths)[1])
    assert KernelTypeFactory(row).create(METADATA).arg_descriptors[1].access == "readwrite"
    accesses = [
        {word for call in psy.schedules[0].kernels() for word in call.accesses}
        for psy in (usual, other)
    ]
    assert "write" in accesses[0]
    assert "write" not in accesses[1]
    assert "readwrite" in accesses[1]


def test_generating_code() -> None:
    """`add` puts a piece where it belongs, or where it is told; loops are found from inside."""
    module = gen.ModuleGen(name="driver_mod")
    routine = gen.SubroutineGen(module, name="drive")
    module.add(routine)
    loop = gen.DoGen(routine, "i", "1", "10")
    routine.add(loop)
    loop.add(gen.CallGen(loop, "step"))
    routine.add(gen.DeclGen(routine, datatype="integer", entity_decls=["i"]))
    routine.add(gen.CommentGen(routine, " before"), position=["before", loop.start_parent_loop()])
    lines = [line.strip().lower() for line in str(module.root).splitlines() if line.strip()]
    order = ["integer :: i", "! before", "do i = 1, 10", "call step()"]
    assert sorted(map(lines.index, order)) == list(map(lines.index, order))


# ---------------------------------------------------------------------------- modules


def test_variable_declarations() -> None:
    """The seed's example of three declarations."""
    module = gen.ModuleGen(name="testmodule")
    sub = gen.SubroutineGen(module, name="testsubroutine")
    module.add(sub)
    sub.add(gen.DeclGen(sub, datatype="integer", entity_decls=["my_int"]))
    sub.add(gen.CharDeclGen(sub, length="10", entity_decls=["my_char"]))
    sub.add(gen.TypeDeclGen(sub, datatype="field_type", entity_decls=["ufld"]))
    lines = [line.strip().lower() for line in str(module.root).splitlines() if line.strip()]
    inside = lines[lines.index("subroutine testsubroutine()") + 1 :][:3]
    assert inside == [
        "type(field_type) :: ufld",
        "character(len=10) :: my_char",
        "integer :: my_int",
    ]


def test_configuration(tmp_path: Path) -> None:
    """There is one `Config`, with the section of each API behind it."""
    script = """\
from psyclone.configuration import Config
def trans(psy):
    assert Config.get() is Config.get()
    print(Config.get().api_conf("dynamo0.3").compute_annexed_dofs)
"""
    (tmp_path / "look.py").write_text(script, encoding="utf-8")
    (tmp_path / "own.cfg").write_text("[dynamo0.3]\nCOMPUTE_ANNEXED_DOFS = true\n")
    words = ["-api", "lfric", "-d", str(KERNELS), "-s", "look.py", str(CORPUS / "builtins_set.x90")]
    assert run_command(words, tmp_path).out.splitlines()[0] == "False"
    assert run_command([*words, "-c", "own.cfg"], tmp_path).out.splitlines()[0] == "True"


def test_transformations() -> None:
    """A script may write a class of its own, which applies others and is refused by name."""
    tree = small(dofs("u write w3"), psyclone=True)
    with as_in_a_script(Transformation="psyclone.psyGen") as words:
        exec(
            "class Twice(Transformation):\n"
            "    name = 'Twice'\n"
            "class Thread(Transformation):\n"
            "    def apply(self, node, options=None):\n"
            "        self.validate(node, options)\n"
            "        return Inner().apply(node, options)\n",
            words,
        )
    words["Inner"] = TRANSFORMATIONS["LFRicOMPParallelLoopTrans"]
    schedule, memento = words["Thread"]().apply(tree.loops()[0])  # type: ignore[operator]
    assert schedule == tree
    assert memento is not None
    with pytest.raises(TransformationError, match="'Twice' does not say what it applies"):
        words["Twice"]().apply(tree)  # type: ignore[operator]


def test_regions() -> None:
    """`RegionTrans` takes neighbours in their order, or all of a schedule, and no excluded node."""

    class Region(RegionTrans):
        excluded_node_types = (HaloExchange,)

        def apply(self, node: object, options: object = None) -> object:  # type: ignore[override]
            self.validate(node, options=options)  # type: ignore[arg-type]
            return TRANSFORMATIONS["OMPParallelTrans"]().apply(node)  # type: ignore[arg-type]

    calls = (dofs("a write w3"), dofs("b write w3"), dofs("c write w3"))
    tree = small(*calls, psyclone=True)
    first, second, third = tree.loops()
    for wrong in ([first, third], [second, first]):
        with pytest.raises(TransformationError, match="neighbours in their order"):
            Region().validate(wrong)
        with pytest.raises(TransformationError, match="neighbours in their order"):
            TRANSFORMATIONS["OMPParallelTrans"]().apply(wrong)
    assert Region().get_node_list(tree) == [first, second, third] == list(tree.children)
    assert Region().get_node_list([second]) == [second]
    Region().apply([first, second])
    assert [len(node.children) for node in tree.children] == [2, 1]
    read = small(cells("x write w3", "u read w3 stencil 1"), psyclone=True)
    with pytest.raises(TransformationError, match="does not take a 'HaloExchange'"):
        Region().validate(read)


def test_kernels_in_transformations() -> None:
    """A script looks at the subroutine behind a call, and a step changes that call's alone."""
    tree = one("access_inc_and_write_discontinuous")
    call = tree.coded_kernels()[0]
    (routine, *_) = call.get_callees()
    assert routine.view().lower().startswith("subroutine ")
    assert routine == call.get_kernel_schedule()


def test_openacc_support() -> None:
    """`ACCDataTrans` on a schedule lets fields live on the device; each is asked if it is there."""
    psy = layer("stencil_after_write", grid=True, distributed=False)
    tree = psy.schedules[0]
    TRANSFORMATIONS["ACCKernelsTrans"]().apply(tree.children)
    TRANSFORMATIONS["ACCDataTrans"]().apply(tree)
    text = psy.gen
    assert "!$acc enter data" in text
    assert "first_time" not in text
    assert re.search(r"if \(.*data_on_device", text)


def test_calls_outside_a_script() -> None:
    """A program in Python uses the words of `parse` and `PSyFactory` without a command."""
    found = [
        invoke.name
        for invoke in layer("several_invokes_one_routine").invokes.invoke_list
        if invoke.schedule.walk(KernelCall)
    ]
    assert len(found) > 1
    assert layer("several_invokes_one_routine").invokes.names == found
    assert all(isinstance(loop, Loop) for loop in one("builtins_set").loops())
