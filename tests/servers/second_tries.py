"""Name the tests that passed only when they were tried again, and end the run when they are many.

`make test` tries a test that failed once more: one of thirteen thousand that meets a machine that
stands still says nothing about a change. How it failed is printed, so that somebody can mend it.
"""

import pytest

MOST = 3  # more are no chance


def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter and session.exitstatus == 0 and len(tried_again(reporter)) > MOST:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    again = tried_again(terminalreporter)
    for report in again:
        terminalreporter.section(f"tried again: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
    if len(again) > MOST:
        terminalreporter.section(f"{len(again)} tests were tried again, more than {MOST}")


def tried_again(reporter):
    return reporter.stats.get("rerun", [])
