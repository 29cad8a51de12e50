"""Write docs/task-tests.md: what becomes of each of Django's own tests for task backends.

python -m tests.packaging.upstream.page FOLDER ...        folders `tests` of sdists of Django
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.packaging.environment import ROOT
from tests.packaging.upstream.verdicts import ADAPTED, NOT_APPLICABLE

PAGE = ROOT / "docs" / "task-tests.md"
HEAD = """# Django's own tests for task backends

`make matrix` downloads the source of Django {versions}, and runs its tests of tasks against
`queues.tasks.AtributoBackend`. No text of a test is changed: while they run, the names of Django's
two backends, and of its test case without database, are those of ours.

- The dummy backend, which stores and runs nothing, is ours without a worker.
- The immediate backend, which runs a task as soon as it is enqueued, is ours with a worker that
  runs before the result is looked at.
- Test cases are `TransactionTestCase`, since our tasks are rows.
- Tests that call without `await` inside a coroutine may do so (`DJANGO_ALLOW_ASYNC_UNSAFE`).
- The tests of `CustomBackendTestCase` and `CustomTaskTestCase` bring backends of their own. They
  run, but tell nothing about ours.

Of {total} tests {passed} pass as they are, {adapted} are adapted and {left} are not applicable.
The package django-tasks, which brings the API to Django 5.2, has no tests in its source on PyPI.
"""


def main(folders: list[str]) -> None:
    versions = [Path(each).parent.name.removeprefix("django-") for each in folders]
    names = sorted({name for folder in folders for name in names_in(Path(folder) / "tasks")})
    words = [word_of(name).partition(":")[0] for name in names]
    counts = {word: words.count(word) for word in ("passed", "adapted", "not applicable")}
    head = HEAD.format(
        versions=" and ".join(versions),
        total=len(names),
        passed=counts["passed"],
        adapted=counts["adapted"],
        left=counts["not applicable"],
    )
    rows = [f"| `{name}` | {word_of(name)} |" for name in names]
    PAGE.write_text("\n".join([head, "| test | result |", "|---|---|", *rows, ""]))


def word_of(name: str) -> str:
    """Return what the page says of a test."""
    if name in ADAPTED:
        return f"adapted: {ADAPTED[name]}"
    if name in NOT_APPLICABLE:
        return f"not applicable: {NOT_APPLICABLE[name]}"
    return "passed"


def names_in(folder: Path) -> Iterator[str]:
    for path in sorted(folder.glob("test_*.py")):
        for kind in ast.parse(path.read_text()).body:
            if isinstance(kind, ast.ClassDef):
                yield from (f"{kind.name}.{each.name}" for each in kind.body if _is_test(each))


def _is_test(node: ast.stmt) -> bool:
    is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return is_function and node.name.startswith("test_")


if __name__ == "__main__":
    main(sys.argv[1:])
