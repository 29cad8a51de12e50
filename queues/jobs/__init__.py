"""What callers do with queued jobs: push, abort, retry, pause and reschedule, one or many."""
