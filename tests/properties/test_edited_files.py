"""Random programs in which directives are inserted around loops, and read back.

A long campaign: `EDITED_EXAMPLES=20000 pytest tests/properties/test_edited_files.py`.
"""

from __future__ import annotations

import os
import random
import sys
from collections import Counter
from pathlib import Path

from properties.random_lines import Program
from psyclone_storage.base.source import SourceText
from psyclone_storage.languages.fortran.parse.syntax_tree import read_file
from psyclone_storage.languages.fortran.print.edit_script import emit_changed
from psyclone_storage.languages.sources.files import read_source
from psyclone_storage.languages.sources.kernel_search import index_directories
from psyclone_storage.languages.sources.module_finder import ModuleFinder

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from whole_files import (
    Tally,
    counted_loops,
    difference,
    has_shared_ends,
    other_change,
    share_each,
    shares_lines,
    with_directives,
)

ROOT = Path(__file__).resolve().parents[2]
COUNT = int(os.environ.get("EDITED_EXAMPLES", "150"))


def test_directives_are_read_around_their_loops_and_nothing_else_changes() -> None:
    found = Counter[str]()
    for seed in range(COUNT):
        text = Program(seed).text
        tree = read_file(SourceText("x.F90", text))
        assert emit_changed(tree, tree) == text
        loops = counted_loops(tree)
        found["enclosed"] += len(loops)
        found["sharing"] += sum(shares_lines(tree, loop) for loop in loops)
        found["ending together"] += has_shared_ends(loops)
        for chosen in (loops, random.Random(seed).sample(loops, min(1, len(loops)))):
            changed = with_directives(tree, chosen)
            assert difference(tree, changed, emit_changed(tree, changed)) == (), f"{seed}:\n{text}"
    assert found["enclosed"] > 3 * COUNT
    assert found["sharing"] > COUNT
    assert found["ending together"] > COUNT // 10


def test_a_directive_around_one_provable_loop_changes_nothing_else() -> None:
    """Each provable loop in the Fortran files of the repository, alone."""
    tally = Tally()
    for folder in (ROOT / "examples", ROOT / "tests" / "corpus"):
        finder = ModuleFinder(index_directories((folder,), by_content=True))
        for path in sorted(folder.rglob("*.[fF]90")):
            share_each(read_source(path), finder, tally)
    assert tally.problems == []
    assert tally.provable > 100


def test_another_change_is_noticed() -> None:
    before = "do i = 1, n ; a(i) = 1 ; end do\nb = 2\n"
    after = "!$omp parallel do\ndo i = 1, n\n a(i) = 1\nend do\n!$omp end parallel do\nb = 2\n"
    assert other_change(before, after) == 0
    assert other_change(before, after.replace("b = 2", "b = 3")) == 2
    assert other_change(before, after.replace("a(i) = 1", "a(i) = 2")) == 1
    assert other_change(before, after + "c = 1\n") == -1
    assert other_change(before, before) == -1
