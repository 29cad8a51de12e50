"""A fixture for pytest: `pytest_plugins = ["queues.testing.fixtures"]` in the first conftest.py."""

from collections.abc import Iterator
from types import ModuleType

import pytest

from queues import testing


@pytest.fixture
def jobs(db: None) -> Iterator[ModuleType]:
    """The functions of `queues.testing`, with a database and without Redis."""
    with testing.silence():
        yield testing
