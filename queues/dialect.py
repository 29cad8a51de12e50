"""The few words in which SQLite and PostgreSQL differ."""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import connections


@dataclass(frozen=True)
class Dialect:
    vendor: str
    now: str  # the statement's moment
    later: str  # the moment some seconds from then; takes seconds() as its parameter
    minute: str  # the minute of that moment
    lock: str  # take rows that nobody else is taking

    def seconds(self, value: float) -> float | str:
        return value if self.vendor == "postgresql" else f"{value:+.3f} seconds"

    def moment(self, value: datetime | None) -> str | None:
        """A moment as a parameter: SQLite keeps texts, all in UTC and of one format."""
        if value is None:
            return None
        text = value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        return f"{text}+00" if self.vendor == "postgresql" else text


POSTGRESQL = Dialect(
    "postgresql",
    "statement_timestamp()",
    "statement_timestamp() + make_interval(secs => %s)",
    "date_trunc('minute', statement_timestamp())",
    "FOR UPDATE SKIP LOCKED",
)
SQLITE = Dialect(
    "sqlite",
    "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now')",
    "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now', %s)",
    "strftime('%%Y-%%m-%%d %%H:%%M:00', 'now')",
    "",
)


def dialect(using: str = "default") -> Dialect:
    return POSTGRESQL if connections[using].vendor == "postgresql" else SQLITE
