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

sys.path.append(str(Path(__file__).resolve().parents[2] / "benchmarks"))

from whole_files import counted_loops, difference, has_shared_ends, shares_lines, with_directives

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
