"""docs/architecture.md names files and functions that exist, and its walks stay short."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text()
PATH = r"`((?:atributo_site|allocation|queues|pools|tests|bench|templates|docs)/[\w./-]+)`"
MOST_FILES = {1: 18, 2: 23, 3: 13, 4: 14, 5: 24}


def section(heading: str) -> str:
    """Return the text below a heading, up to the next one of the same level or above."""
    level = heading.partition(" ")[0]
    after = PAGE.partition(f"\n{heading}")[2]
    return re.split(rf"^#{{1,{len(level)}}} ", after, maxsplit=1, flags=re.MULTILINE)[0]


def names_in(path: str) -> set[str]:
    names = set()
    for node in ast.parse((ROOT / path).read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.Assign):
            names |= {ast.unparse(target) for target in node.targets}
    return names


def test_every_path_exists():
    assert [path for path in re.findall(PATH, PAGE) if not (ROOT / path).exists()] == []


def test_every_function_is_in_its_file():
    named = re.findall(rf"{PATH} \(`(\w+)`\)", PAGE)
    assert len(named) > 50
    assert [pair for pair in named if pair[1] not in names_in(pair[0])] == []


@pytest.mark.parametrize(("number", "most"), MOST_FILES.items())
def test_a_walk_is_short(number, most):
    files = set(re.findall(PATH, section(f"### {number}. ")))
    assert 5 < len(files) <= most


def test_twenty_questions_have_one_path_each():
    rows = section("## Where is ...?").strip().splitlines()[2:]
    paths = [re.findall(PATH, row.rpartition(" | ")[2]) for row in rows]
    assert [len(found) for found in paths] == [1] * 20
