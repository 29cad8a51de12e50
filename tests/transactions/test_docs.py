"""The examples of the documentation, run as they stand."""

import re
from pathlib import Path

import pytest

from allocation.transactions import (
    FailedToComplete,
    FailedToRollBack,
    Job,
    OiotClient,
    RollbackCausedByException,
)
from allocation.transactions.models import Lock

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = Path(__file__).parents[2] / "docs" / "transactions.md"


def test_the_examples_of_the_page_work():
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)  # noqa: S102
    assert len(blocks) == 7


def test_the_usage_of_the_library_before_works():
    client = OiotClient("an API key")
    client.put("two", "k", {"v": 0})
    client.put("three", "k", {"v": 0})
    client.put("four", "k", {"v": 0})
    item = client.get("two", "k")
    item["was_modified"] = True
    client.put(item.collection, item.key, item.json, item.ref).raise_for_status()

    job = Job(client)
    job.post("one", {"v": 1})
    job.put("two", "k", {"v": 1})
    job.delete("three", "k")
    job.get("four", "k")
    job.complete()

    job = Job(client)
    job.put("two", "k", {"v": 2})
    client.put("two", "k", {"v": 3}, raise_if_locked=False)
    try:
        job.post("one", {"v": 1})
        job.put("four", "k", {"v": 1})
        job.complete()
    except (RollbackCausedByException, FailedToRollBack, FailedToComplete):
        raise

    job = Job(client)
    job.post("one", {"v": 1})
    job.put("two", "k", {"v": 4})
    job.delete("four", "k")
    job.roll_back()
    assert client.get("two", "k").json == {"v": 3}
    assert client.get("four", "k").json == {"v": 1}
    assert not Lock.objects.exists()
