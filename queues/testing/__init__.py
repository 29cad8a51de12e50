"""Test what pushes jobs: run what is due in this process, see what was pushed, make runs fail.

`from queues.testing import run_due, assert_pushed`; the pytest fixture is in
`queues.testing.fixtures`.
"""

from queues.testing.assertions import (
    Pushed,
    assert_not_pushed,
    assert_nothing_pushed,
    assert_pushed,
    pushed,
)
from queues.testing.faults import fail, kill, time_out
from queues.testing.running import Ran, run_due, silence

__all__ = [
    "Pushed",
    "Ran",
    "assert_not_pushed",
    "assert_nothing_pushed",
    "assert_pushed",
    "fail",
    "kill",
    "pushed",
    "run_due",
    "silence",
    "time_out",
]
