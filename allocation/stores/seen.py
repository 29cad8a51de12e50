"""Jobs that this process was asked about: looked up first, because they are probably placed."""

MOST = 20_000
_seen: set[str] = set()


def seen_before(job_id: str) -> bool:
    """Whether it was asked about; it is remembered from now on."""
    if job_id in _seen:
        return True
    if len(_seen) >= MOST:
        _seen.clear()
    _seen.add(job_id)
    return False
