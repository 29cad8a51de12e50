"""Ids of queued jobs."""

import time


def get_job_ids(count: int) -> list[int]:
    first = max(time.time_ns(), _last[0] + 1)
    _last[0] = first + count
    return list(range(first, first + count))


_last = [0]
