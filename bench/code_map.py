"""Measure the code: modules per folder, lines per module, modules with a single importer.

`python -m bench.code_map` prints them beside their bars; the exit code is 1 where one is missed.
"""

import ast
import statistics
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("allocation", "queues", "pools", "atributo_site")
BARS = {
    "most modules in a folder": (0, 15),
    "median lines of a module": (80, 120),
    "longest module": (0, 400),
    "modules with one importer, next door": (0, 60),
}


def main() -> int:
    modules = product_modules()
    figures = {
        "most modules in a folder": max(crowds().values()),
        "median lines of a module": statistics.median(map(lines, written(modules))),
        "longest module": max(map(lines, modules.values())),
        "modules with one importer, next door": len(crumbs(modules)),
    }
    print(f"{len(modules)} modules, {sum(map(lines, modules.values())):,} lines")
    missed = 0
    for name, figure in figures.items():
        least, most = BARS[name]
        met = least <= figure <= most
        missed += not met
        print(f"{name:40} {figure:>6g}   {least} to {most}   {'ok' if met else 'MISSED'}")
    if "--crumbs" in sys.argv:
        print(*crumbs(modules), sep="\n")
    return 1 if missed else 0


def product_modules() -> dict[str, Path]:
    paths = [path for top in PRODUCT for path in (ROOT / top).rglob("*.py")]
    return {dotted(path): path for path in paths if "migrations" not in path.parts}


def dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def written(modules: dict[str, Path]) -> list[Path]:
    return [path for path in modules.values() if path.name != "__init__.py"]


def lines(path: Path) -> int:
    return len(path.read_text().splitlines())


def crowds() -> Counter[Path]:
    """Count the modules in each folder of product and tests."""
    tops = (*PRODUCT, "tests")
    paths = [path for top in tops for path in (ROOT / top).rglob("*.py")]
    counted = [p for p in paths if p.name != "__init__.py" and "migrations" not in p.parts]
    return Counter(path.parent for path in counted)


def crumbs(modules: dict[str, Path]) -> list[str]:
    """Return the modules with a single importer that lies in the same folder.

    Lists of URLs and `__init__` files exist to import others, so they do not count.
    """
    importers = defaultdict(set)
    for name, path in modules.items():
        for imported in imports_of(path, modules):
            importers[imported].add(name)
    return [
        f"{name} <- {sole}"
        for name, path in sorted(modules.items())
        if path.name != "__init__.py" and len(importers[name]) == 1
        for sole in importers[name]
        if modules[sole].parent == path.parent
        if modules[sole].name not in ("urls.py", "__init__.py")
    ]


def imports_of(path: Path, modules: dict[str, Path]) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {known(name, modules) for name in names} - {"", dotted(path)}


def known(name: str, modules: dict[str, Path]) -> str:
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name


if __name__ == "__main__":
    sys.exit(main())
