"""What callers do with queued jobs: push, abort, retry, pause, reschedule, singly or in bulk."""
