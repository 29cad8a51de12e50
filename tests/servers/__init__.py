"""Private servers that the tests start, script, break and stop."""
