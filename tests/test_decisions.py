"""The pages of docs/decisions have one format, numbers without gaps, and a line in the index."""

import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "decisions"
INDEX = (FOLDER / "README.md").read_text()
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
PARTS = ["Context", "Decision", "Alternatives", "Consequences"]

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def test_numbers_have_no_gaps():
    assert [page.name[:4] for page in PAGES] == [f"{n:04}" for n in range(1, len(PAGES) + 1)]


@every_page
def test_a_page_begins_with_its_number(page):
    assert page.read_text().startswith(f"# {page.name[:4]} ")


@every_page
def test_a_page_has_its_parts_in_order(page):
    found = re.findall(r"^\*\*(\w+)\.\*\*", page.read_text(), re.MULTILINE)
    assert found == [part for part in PARTS if part != "Alternatives" or part in found]


@every_page
def test_the_index_has_its_title(page):
    title = page.read_text().partition("\n")[0].removeprefix(f"# {page.name[:4]} ")
    assert f"- [{page.name[:4]}]({page.name}) {title}\n" in INDEX


def test_the_index_names_nothing_else():
    assert INDEX.count("\n- [") == len(PAGES)
