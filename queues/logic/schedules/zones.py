"""Time zones by their IANA names."""

from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from queues.logic.schedules.errors import BadRule, shown

LONGEST_NAME = 64


class UnknownZone(BadRule):
    """A name that this machine's time zone data does not have, or no longer."""


@cache
def zone_named(name: str) -> ZoneInfo:
    """Return a zone, or raise UnknownZone."""
    if isinstance(name, str) and 0 < len(name) <= LONGEST_NAME and name in zone_names():
        try:
            return ZoneInfo(name)
        except (LookupError, ValueError, OSError):
            pass
    raise UnknownZone(
        f"there is no time zone {shown(name)}; write an IANA name such as Europe/Berlin or UTC"
    )


@cache
def zone_names() -> frozenset[str]:
    return frozenset(available_timezones() | {"UTC"})
