"""Who may import whom. A broken rule is reported with its file and module."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ["allocation", "queues", "pools"]
LEAVES = {
    "atributo_site.rest",
    "atributo_site.loops",
    "atributo_site.permissions",
    "atributo_site.commands",
    "atributo_site.raw_lists",
}
MAY_IMPORT = {
    "allocation": {"allocation"},
    "queues": {"queues", "allocation"},
    "pools": {"pools", "allocation"},
}
OURS = {*ROOMS, "atributo_site"}


@cache
def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write the whole module name"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def files(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def modules_of(leaf: str) -> list[Path]:
    path = ROOT.joinpath(*leaf.split("."))
    return files(str(path.relative_to(ROOT))) or [path.with_suffix(".py")]


def is_door(parts: tuple[str, ...]) -> bool:
    """admin, api (also as a folder or in parts such as api_jobs), urls and commands."""
    words = {part.partition("_")[0] for part in parts[1:]}
    return bool(words & {"admin", "api", "urls", "management"})


def is_below(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_itself_allocation_and_leaves(room):
    allowed = MAY_IMPORT[room] | LEAVES
    broken = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files(room)
        for name in imports_of(path)
        if is_below(name, OURS) and not is_below(name, allowed)
    ]
    assert broken == []


@pytest.mark.parametrize("room", ROOMS)
def test_logic_needs_the_standard_library_alone(room):
    allowed = {*sys.stdlib_module_names, f"{room}.logic"}
    broken = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files(f"{room}/logic")
        for name in imports_of(path)
        if not is_below(name, allowed)
    ]
    assert broken == []


def test_the_pools_library_knows_no_django():
    allowed = {*sys.stdlib_module_names, "dns", "urllib3", "pools.logic", "pools.net"}
    broken = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files("pools/net")
        for name in imports_of(path)
        if not is_below(name, allowed)
    ]
    assert broken == []


def test_a_leaf_knows_no_room_but_allocation():
    """A room imports leaves, so that a leaf which imports that room would be a circle."""
    broken = [
        f"{path.relative_to(ROOT)} imports {name}"
        for leaf in LEAVES
        for path in modules_of(leaf)
        for name in imports_of(path)
        if is_below(name, {"queues", "pools"})
    ]
    assert broken == []


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_behind_a_door_imports_a_door(room):
    broken = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files(room)
        if not is_door(path.relative_to(ROOT).with_suffix("").parts)
        for name in imports_of(path)
        if is_below(name, OURS - {"atributo_site"}) and is_door(tuple(name.split(".")))
    ]
    assert broken == []


@pytest.mark.parametrize("room", ROOMS)
def test_models_know_models_logic_and_errors_alone(room):
    """And what the settings permit, which is asked when a row is checked."""
    below = {
        f"{each}.{part}" for each in MAY_IMPORT[room] for part in ("models", "logic", "errors")
    }
    below |= {f"{room}.transactions.models", f"{room}.permitted"}
    broken = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in files(room)
        if "models" in path.relative_to(ROOT).with_suffix("").parts
        for name in imports_of(path)
        if is_below(name, OURS) and not is_below(name, below)
    ]
    assert broken == []


def test_nobody_pickles_evaluates_or_sends_signals():
    forbidden = {"pickle", "shelve", "marshal", "django.dispatch"}
    broken = [
        f"{path.relative_to(ROOT)} imports {name}"
        for folder in OURS
        for path in files(folder)
        for name in imports_of(path)
        if is_below(name, forbidden) or "signals" in name.split(".")
    ]
    assert broken == []


def test_only_after_commit_registers_what_follows_a_commit():
    """Anything else could hand Django an object without a name, whose error is then raised."""
    found = {
        str(path.relative_to(ROOT))
        for folder in OURS
        for path in files(folder)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith("on_commit")
    }
    assert found == {"allocation/after_commit.py"}


def test_transactions_never_mention_instances_or_allocations():
    broken = [
        f"{path.relative_to(ROOT)} mentions {word}"
        for path in files("allocation/transactions")
        for word in ("Instance", "Allocation")
        if word in path.read_text()
    ]
    assert broken == []


def test_the_project_never_points_outside_itself():
    folders = [*OURS, "tests", "docs", "bench", "services", "templates", ".ci"]
    below = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    written = {".py", ".md", ".html", ".js", ".css", ".json", ".toml", ".txt", ".sh", ""}
    found = [
        str(path.relative_to(ROOT))
        for path in [*ROOT.glob("*"), *below]
        if path.suffix in written and path.is_file() and "shared" + "/" in path.read_text()
    ]
    assert found == []


def test_forbidden_modules_do_not_exist():
    names = {"utils.py", "services.py", "signals.py", "helpers.py"}
    found = [
        str(path)
        for room in ["atributo_site", *ROOMS]
        for path in files(room)
        if path.name in names
    ]
    assert found == []
