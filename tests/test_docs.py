"""Check that pages name only links, files, modules, settings and commands that exist."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from atributo_site.__main__ import ALIASES

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
OUR_FOLDERS = "atributo_site|allocation|queues|pools|tests|bench|docs|services|clients|bin|deploy"
OF_THE_CLIENT = {"ATRIBUTO_URL", "ATRIBUTO_TOKEN"}  # where other programs find the site

every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def found(page: Path, pattern: str) -> set[str]:
    return set(re.findall(pattern, page.read_text()))


def anchors(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@every_page
def test_links_lead_somewhere(page):
    links = [link.partition("#") for link in found(page, r"\]\(([^):]+)\)")]
    targets = [(page.parent / path if path else page, anchor) for path, _, anchor in links]
    assert [str(target) for target, _ in targets if not target.exists()] == []
    assert [a for target, a in targets if a and a not in anchors(target)] == []


def test_every_picture_is_shown():
    taken = {path.name for path in (ROOT / "docs" / "images").iterdir()}
    assert taken == {name for page in PAGES for name in found(page, r"images/([\w.-]+)\)")}


@every_page
def test_files_and_modules_exist(page):
    paths = found(page, rf"`((?:{OUR_FOLDERS})/[\w./-]*)`")
    modules = {name.replace(".", "/") for name in found(page, r"python -m ([\w.]+)")}
    known = [ROOT / path for path in paths | {f"bench/{n}.py" for n in found(page, r"ARGS=(\w+)")}]
    assert [str(path) for path in known if not path.exists()] == []
    assert [name for name in modules if not list(ROOT.glob(f"{name}.py")) + ways_in(name)] == []


def ways_in(module: str) -> list[Path]:
    return [*ROOT.glob(f"{module}/__main__.py"), *ROOT.glob(f"clients/*/{module}/__main__.py")]


@every_page
def test_settings_and_commands_exist(page):
    example = (ROOT / ".env.example").read_text()
    settings = found(page, r"(?:ATRIBUTO_[A-Z_]+|DATABASE_URL|REDIS_URL)")
    assert [name for name in settings - OF_THE_CLIENT if f"{name}=" not in example] == []
    written = found(page, r"manage\.py ([a-z_]+)|(?m:(?:^    |`|bin/)atributo ([a-z_]+))")
    known = {*get_commands(), *ALIASES, "help"}
    assert {name for pair in written for name in pair if name} <= known


@every_page
def test_quotes_are_straight(page):
    assert [line for line in page.read_text().splitlines() if set(line) & set("«»“”„‘’")] == []


@pytest.mark.parametrize("name", ["requirements.in", "requirements-dev.in"])
def test_packages_that_we_chose_are_pinned_and_have_their_words(name):
    words = (ROOT / "docs" / "dependencies.md").read_text()
    chosen = [
        line for line in (ROOT / name).read_text().splitlines() if line and line[0] not in "#-"
    ]
    assert [line for line in chosen if "==" not in line] == []
    assert [line for line in chosen if line.partition("==")[0] not in words] == []


@pytest.mark.parametrize("name", ["requirements", "requirements-dev"])
def test_the_lock_has_what_we_chose_with_hashes(name):
    locked = (ROOT / f"{name}.txt").read_text()
    blocks = [block for block in re.split(r"\n(?=[a-z0-9])", locked) if block]
    assert [block for block in blocks if "==" not in block or "--hash=sha256:" not in block] == []
    chosen = [line for line in (ROOT / f"{name}.in").read_text().splitlines() if "==" in line]
    assert [line for line in chosen if line.partition(" ")[0] not in locked] == []
