"""The backend in the settings, its queues, and the tasks of a shop."""

from dataclasses import replace

import pytest

import queues
from queues.functions import declaration, modules
from queues.functions.rows import store_all
from tests.queues.inline_worker import Hands

SHOP = "tests.queues.tasks.shop_tasks"
BACKEND = {"BACKEND": "queues.tasks.AtributoBackend", "QUEUES": ["default", "mail", "nowhere"]}


@pytest.fixture
def shop(settings, monkeypatch, transactional_db):
    settings.TASKS = {"default": BACKEND}
    settings.ATRIBUTO = replace(settings.ATRIBUTO, task_modules=(SHOP,))
    monkeypatch.setattr(modules, "_loaded", set())
    monkeypatch.setattr(declaration, "_declared", dict(declaration._declared))
    from tests.queues.tasks import shop_tasks

    for name in ("default", "mail"):
        queues.create(name)
    store_all()
    return shop_tasks


@pytest.fixture
def drain(shop):
    worker = Hands()
    yield worker.drain
    worker.close()
