"""Wait for a condition with a limit; tests use this instead of sleeping."""

import time

FIRST_PAUSE_SECONDS = 0.002
LONGEST_PAUSE_SECONDS = 0.05


def wait_until(predicate, timeout=60, message="the condition did not come true"):
    """Return the first true value of predicate(); raise AssertionError when the time is over."""
    deadline = time.monotonic() + timeout
    pause = FIRST_PAUSE_SECONDS
    while not (value := predicate()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{message} within {timeout} s")
        time.sleep(pause)
        pause = min(pause * 1.5, LONGEST_PAUSE_SECONDS)
    return value
