"""The examples of docs/scripts.md run."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs" / "scripts.md"


def test_the_examples_run(transactional_db):
    blocks = re.findall(r"^```python\n(.*?)^```", DOCS.read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    exec(compile("\n".join(blocks), DOCS.name, "exec"), {})  # noqa: S102
