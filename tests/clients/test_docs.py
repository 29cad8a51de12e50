"""The examples of docs/client.md run against a site with a worker."""

import re
from pathlib import Path

import pytest

from atributo_site.core.models import Lease
from queues.services import installation

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs" / "client.md"


@pytest.fixture
def worker(worker_process, wait_until, transactional_db):
    process = worker_process("--name", "a")
    wait_until(Lease.objects.held().filter(role="worker/a").exists)
    return process


def test_the_examples_run(web, token_of, monkeypatch, worker):
    installation.install(str(ROOT / "services" / "multiplier"), "/multiplier")
    monkeypatch.setenv("ATRIBUTO_URL", web())
    monkeypatch.setenv("ATRIBUTO_TOKEN", token_of("admin"))
    blocks = re.findall(r"^```python\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 8
    names = {}
    exec(compile("\n".join(blocks), DOCS.name, "exec"), names)  # noqa: S102
    names["client"].close()
