"""Who may import whom, and how large a folder or a file may be.

A broken rule is reported with its file and module. Imports inside functions count; those that only
type checkers read do not.
"""

import ast
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ["allocation", "queues", "pools"]
OURS = [*ROOMS, "atributo_site"]
CORE = "atributo_site.core"
MAY_IMPORT = {
    "allocation": {"allocation", CORE},
    "queues": {"queues", "allocation", CORE},
    "pools": {"pools", "allocation", CORE},
}
DOORS = {"admin", "api", "urls", "management"}
FOR_DOORS = {
    "atributo_site.rest",
    "atributo_site.web.raw_lists",
    "atributo_site.permissions",
    "atributo_site.commands",
}
# Inside a room a folder imports itself and what stands before it.
LAYERS = {
    "allocation": "errors logic models storage instances placement api management",
    "allocation.transactions": "errors logic models store documents engine curator api",
    "queues": "errors logic schema models sql flow links runs queries functions jobs tasks"
    " schedules sandbox execution children shared worker services maintenance testing api"
    " management",
    "pools": "logic net contrib models watch reporting api management",
}
MOST_MODULES = 15
MOST_LINES = 400


@cache
def modules() -> dict[str, Path]:
    paths = [path for room in OURS for path in (ROOT / room).rglob("*.py")]
    return {dotted(path): path for path in paths if "migrations" not in path.parts}


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text())
    unread = {id(each) for block in for_type_checkers(tree) for each in ast.walk(block)}
    names = set()
    for node in (each for each in ast.walk(tree) if id(each) not in unread):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: write the whole module name"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return frozenset(names)


def for_type_checkers(tree: ast.Module) -> list[ast.If]:
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If)]
    return [block for block in blocks if "TYPE_CHECKING" in ast.unparse(block.test)]


@cache
def edges() -> dict[str, frozenset[str]]:
    """Every module of ours with the modules of ours that it imports."""
    return {
        name: frozenset(filter(None, map(module_of, imports_of(path)))) - {name}
        for name, path in modules().items()
    }


def module_of(name: str) -> str:
    while name and name not in modules():
        name = name.rpartition(".")[0]
    return name


def is_below(name: str, packages: set[str]) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def is_door(name: str) -> bool:
    return bool(set(name.split(".")[1:]) & DOORS)


def broken(rule) -> list[str]:
    return [
        f"{modules()[importer].relative_to(ROOT)} imports {imported}"
        for importer, names in sorted(edges().items())
        for imported in sorted(names)
        if rule(importer, imported)
    ]


def test_the_core_imports_nothing_of_ours():
    core = {CORE}
    assert broken(lambda a, b: is_below(a, core) and not is_below(b, core)) == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_the_core_and_the_rooms_below_it(room):
    def breaks(importer, imported):
        allowed = MAY_IMPORT[room] | (FOR_DOORS if is_door(importer) else set())
        return is_below(importer, {room}) and not is_below(imported, allowed)

    assert broken(breaks) == []


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_behind_a_door_imports_a_door(room):
    def breaks(importer, imported):
        inside = is_below(importer, {room}) and not is_door(importer)
        return inside and is_below(imported, set(ROOMS)) and is_door(imported)

    assert broken(breaks) == []


@pytest.mark.parametrize("room", LAYERS)
def test_inside_a_room_folders_have_an_order(room):
    order = LAYERS[room].split()

    def layer(name):
        below = name.removeprefix(f"{room}.").partition(".")[0]
        return order.index(below) if is_below(name, {room}) and below in order else None

    def breaks(importer, imported):
        ours, theirs = layer(importer), layer(imported)
        return ours is not None and theirs is not None and theirs > ours

    assert broken(breaks) == []


def test_logic_needs_the_standard_library_alone():
    """And the plain words of core.text."""

    def breaks(name):
        return not is_below(name, {*sys.stdlib_module_names, *logic, f"{CORE}.text"})

    logic = {name for name in modules() if name.rpartition(".")[2] == "logic"}
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for module, path in modules().items()
        if is_below(module, logic)
        for name in imports_of(path)
        if breaks(name)
    ]
    assert found == []


def test_the_pools_library_knows_no_django():
    allowed = {*sys.stdlib_module_names, "dns", "pools.logic", "pools.net"}
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (ROOT / "pools" / "net").rglob("*.py")
        for name in imports_of(path)
        if not is_below(name, allowed)
    ]
    assert found == []


def test_the_console_base_knows_no_section():
    base, console = {"atributo_site.console.base"}, {"atributo_site.console"}
    sections = {
        name
        for name in modules()
        if is_below(name, console) and not is_below(name, base) and name not in console
    }
    assert broken(lambda a, b: is_below(a, base) and b in sections) == []


def test_no_two_files_need_each_other():
    assert circles({name: set(names) for name, names in edges().items()}) == []


def test_no_two_folders_need_each_other():
    """Beside the files at a room's root, such as urls and errors, which stand for the whole."""
    roots = {*OURS, "allocation.transactions", "atributo_site.console", CORE}
    folders = defaultdict(set)
    for importer, names in edges().items():
        for imported in names:
            pair = folder_of(importer), folder_of(imported)
            if pair[0] != pair[1] and not roots & set(pair):
                folders[pair[0]].add(pair[1])
    assert circles(folders) == []


def folder_of(name: str) -> str:
    return ".".join(modules()[name].relative_to(ROOT).parent.parts)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """What is left when everything that needs nothing more is taken away, again and again."""
    left = {name: set(names) for name, names in graph.items()}
    while free := [name for name, names in left.items() if not names & left.keys()]:
        for name in free:
            del left[name]
    needed = set().union(*left.values()) if left else set()
    return [[name, *sorted(left[name] & left.keys())] for name in sorted(left) if name in needed]


@pytest.mark.parametrize("top", [*OURS, "tests"])
def test_no_folder_is_crowded(top):
    counts = Counter(
        path.parent.relative_to(ROOT)
        for path in (ROOT / top).rglob("*.py")
        if path.name != "__init__.py" and "migrations" not in path.parts
    )
    assert {str(path): n for path, n in counts.items() if n > MOST_MODULES} == {}


def test_no_file_is_long():
    lengths = {name: len(path.read_text().splitlines()) for name, path in modules().items()}
    assert {name: length for name, length in lengths.items() if length > MOST_LINES} == {}


def test_every_module_says_what_it_is_for():
    beside = [*(ROOT / "tests").rglob("__init__.py"), *(ROOT / "bench").rglob("__init__.py")]
    signs = [path for path in beside if "migrations" not in path.parts]
    silent = [
        str(path.relative_to(ROOT))
        for path in [*modules().values(), *signs]
        if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_nobody_pickles_evaluates_or_sends_signals():
    forbidden = {"pickle", "shelve", "marshal", "django.dispatch"}
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules().values()
        for name in imports_of(path)
        if is_below(name, forbidden) or "signals" in name.split(".")
    ]
    assert found == []


def test_only_after_commit_registers_what_follows_a_commit():
    """Anything else could hand Django an object without a name, whose error is then raised."""
    found = {
        str(path.relative_to(ROOT))
        for path in modules().values()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith("on_commit")
    }
    assert found == {"atributo_site/core/after_commit.py"}


def test_transactions_never_mention_instances_or_allocations():
    found = [
        f"{path.relative_to(ROOT)} mentions {word}"
        for path in (ROOT / "allocation" / "transactions").rglob("*.py")
        for word in ("Instance", "Allocation")
        if word in path.read_text()
    ]
    assert found == []


def test_the_project_never_points_outside_itself():
    folders = [*OURS, "tests", "docs", "bench", "services", "templates", "clients", ".ci"]
    below = [path for folder in folders for path in (ROOT / folder).rglob("*")]
    written = {".py", ".md", ".html", ".js", ".css", ".json", ".toml", ".txt", ".sh", ""}
    found = [
        str(path.relative_to(ROOT))
        for path in [*ROOT.glob("*"), *below]
        if path.suffix in written and path.is_file() and "shared" + "/" in path.read_text()
    ]
    assert found == []


def test_forbidden_modules_do_not_exist():
    """A folder may be called services, after the services that users install."""
    names = {"utils.py", "services.py", "signals.py", "helpers.py"}
    found = [
        str(path.relative_to(ROOT))
        for path in modules().values()
        if path.name in names and "api" not in path.parts
    ]
    assert found == []


def test_no_private_part_of_a_library_is_imported():
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in modules().values()
        for name in imports_of(path)
        if name.split(".")[0] in {"psycopg", "django", "rq", "redis"} and "._" in name
    ]
    assert found == []


def test_queues_work_on_one_database():
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in (ROOT / "queues").rglob("*.py")
        if "migrations" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.arg) and node.arg == "using"
    ]
    assert found == []


def test_no_test_module_imports_another():
    found = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (ROOT / "tests").rglob("*.py")
        for name in imports_of(path)
        if any(part.startswith("test_") for part in name.split(".")[:-1]) and "tests" in name
    ]
    assert found == []
