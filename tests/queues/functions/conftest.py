"""The shop's functions, declared as a setting does it."""

from dataclasses import replace

import pytest

from queues.functions import declaration, modules
from queues.testing.fixtures import jobs

__all__ = ["jobs", "shop"]

SHOP = "tests.queues.functions.shop_jobs"


@pytest.fixture
def shop(settings, monkeypatch):
    """The module, in the setting of this process and of those that it starts."""
    from tests.queues.functions import shop_jobs

    monkeypatch.setenv("ATRIBUTO_TASK_MODULES", SHOP)
    settings.ATRIBUTO = replace(settings.ATRIBUTO, task_modules=(SHOP,))
    monkeypatch.setattr(modules, "_loaded", set())
    monkeypatch.setattr(modules, "_failures", {})
    monkeypatch.setattr(declaration, "_declared", dict(declaration._declared))
    return shop_jobs
