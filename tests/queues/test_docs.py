"""The examples of docs/queues.md run."""

import re
from pathlib import Path

from queues.services import installation

DOCS = Path(__file__).parents[2] / "docs" / "queues.md"


def test_the_examples_run(service_roots, transactional_db):
    for name in ("multiplier", "mailer"):
        installation.install(name, f"/{name}", setup=False)
    blocks = re.findall(r"^```python\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 17
    names = {}
    exec(compile("\n".join(blocks), DOCS.name, "exec"), names)  # noqa: S102
