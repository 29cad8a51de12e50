"""Which jobs are shown as running before they begin, so that no start goes without a row."""

from queues.models import Script

_known: dict[str, tuple[int, frozenset[tuple[str, str]]]] = {}


def recorded_scripts(revision: int, using: str) -> frozenset[tuple[str, str]]:
    """Mount and name of those whose manifest asks for it, read again when a service changes."""
    known = _known.get(using)
    if known is None or known[0] != revision:
        asking = Script.objects.using(using).filter(record_start=True)
        known = revision, frozenset(asking.values_list("service__mount", "name"))
        _known[using] = known
    return known[1]
