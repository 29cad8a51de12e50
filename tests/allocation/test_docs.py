"""The examples of the two pages, run as they stand."""

import re
from pathlib import Path

import pytest

from allocation.asynchronous import close_threads

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = [
    pytest.param(text, id=f"{name}-{number}")
    for name in ("allocation.md", "job-ids.md")
    for number, text in enumerate(
        re.findall(r"```python\n(.*?)```", (DOCS / name).read_text(), re.DOTALL)
    )
]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_runs(example, tmp_path):
    try:
        exec(compile(example, "example", "exec"), {"__name__": "example"})  # noqa: S102
    finally:
        close_threads()
