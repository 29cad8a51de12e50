"""The examples of docs/tasks.md and docs/testing.md run."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from django.db.transaction import atomic, set_rollback

DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def examples(shop, settings, monkeypatch, tmp_path):
    """examples(page) → the names of its blocks, with the first one as the module shop.tasks."""

    def run(page):
        blocks = re.findall(r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.M | re.S)
        assert blocks[0].startswith("# shop/tasks.py\n")
        (tmp_path / "shop").mkdir()
        (tmp_path / "shop" / "__init__.py").touch()
        (tmp_path / "shop" / "tasks.py").write_text(blocks[0])
        names = {}
        exec(compile("\n".join(blocks[1:]), page, "exec"), names)  # noqa: S102
        return names

    monkeypatch.syspath_prepend(tmp_path)
    for name in ("shop", "shop.tasks"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    backend = {"BACKEND": "queues.tasks.AtributoBackend", "QUEUES": ["default", "mail"]}
    settings.TASKS = {"default": backend}
    settings.ATRIBUTO = replace(settings.ATRIBUTO, task_modules=("shop.tasks",))
    yield run
    for name in ("shop", "shop.tasks"):
        sys.modules.pop(name, None)


def test_the_examples_of_tasks_run(examples, transactional_db):
    import queues

    queues.create("default")
    names = examples("tasks.md")
    assert names["queue"].pending(names["add"])


def test_the_examples_of_testing_run(examples, jobs):
    names = examples("testing.md")
    tests = [each for name, each in names.items() if name.startswith("test_")]
    assert len(tests) == 4
    for each in tests:
        with atomic():
            each(jobs)
            set_rollback(True)
