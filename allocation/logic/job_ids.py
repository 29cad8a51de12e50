"""Format and parse job ids: yyMMddHHmmssSSS in UTC, then the worker number."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

CLUSTER_SIZES = (10, 100, 1000)
TIME_DIGITS = 15
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Two digits for the year: before 2010 the id loses its leading zero, from 2100 on it starts again.
FIRST_MS = int(datetime(2010, 1, 1, tzinfo=UTC).timestamp()) * 1000
END_MS = int(datetime(2100, 1, 1, tzinfo=UTC).timestamp()) * 1000


@dataclass(frozen=True, slots=True)
class ParsedId:
    """What an id tells. `exact` is false when its digits are not a valid date."""

    time: datetime
    worker_id: int
    cluster_size: int
    exact: bool = True


def refusal(worker_id: object, cluster_size: object) -> str | None:
    """Return why this pair cannot number ids; None if it can."""
    if type(cluster_size) is not int or cluster_size not in CLUSTER_SIZES:
        return "cluster_size must be one of 10, 100, or 1000"
    if type(worker_id) is not int or not 0 <= worker_id < cluster_size:
        return f"worker_id must be between 0 and {cluster_size - 1} for cluster_size={cluster_size}"
    return None


def width(cluster_size: int) -> int:
    """Return the number of digits of the worker number."""
    return len(str(cluster_size)) - 1


def second_digits(second: int) -> str:
    """Return the twelve digits of a second since 1970; ValueError outside 2010 to 2099."""
    if not FIRST_MS <= second * 1000 < END_MS:
        raise ValueError("the clock shows a year outside 2010 to 2099, which an id cannot hold")
    return (EPOCH + timedelta(seconds=second)).strftime("%y%m%d%H%M%S")


def tails(worker_id: int, cluster_size: int) -> list[str]:
    """Return the end of the id for each of the 1,000 milliseconds of a second."""
    number = f"{worker_id:0{width(cluster_size)}d}"
    return [f"{ms:03d}{number}" for ms in range(1000)]


def format_id(ms: int, worker_id: int, cluster_size: int) -> str:
    """Return the id of one millisecond since 1970."""
    number = f"{worker_id:0{width(cluster_size)}d}"
    return f"{second_digits(ms // 1000)}{ms % 1000:03d}{number}"


def format_range(start_ms: int, count: int, tails: list[str]) -> list[str]:
    """Return the ids of `count` milliseconds in a row, made a second at a time."""
    ids: list[str] = []
    ms, end = start_ms, start_ms + count
    while ms < end:
        second, first = divmod(ms, 1000)
        last = min(1000, first + end - ms)
        prefix = second_digits(second)
        ids.extend(map(prefix.__add__, tails[first:last]))
        ms += last - first
    return ids


def next_ms(now_ms: int, last_ms: int) -> int:
    """Return the clock, or the millisecond after the last id if the clock is not beyond it."""
    return now_ms if now_ms > last_ms else last_ms + 1


def parse(job_id: str | int) -> ParsedId:
    """Return time, worker number and cluster size of an id; ValueError if it is none.

    Another system's ids may have a second 73; they are read as the last moment that exists.
    """
    text = str(job_id)
    size = {16: 10, 17: 100, 18: 1000}.get(len(text))
    if size is None or not (text.isascii() and text.isdigit()):
        raise ValueError("a job id has 16, 17 or 18 digits")
    time, exact = _moment(text[:TIME_DIGITS])
    return ParsedId(time, int(text[TIME_DIGITS:]), size, exact)


def sort_key(job_id: str | int) -> tuple[str, str]:
    """Sort ids of different widths by time; neither their text nor their number would."""
    text = str(job_id)
    return text[:TIME_DIGITS], text[TIME_DIGITS:]


def _moment(digits: str) -> tuple[datetime, bool]:
    year, month, day, hour, minute, second = (int(digits[i : i + 2]) for i in range(0, 12, 2))
    month_, hour_, minute_ = min(max(month, 1), 12), min(hour, 23), min(minute, 59)
    second_ = min(second, 59)
    day_ = min(max(day, 1), _days(2000 + year, month_))
    exact = (month, day, hour, minute, second) == (month_, day_, hour_, minute_, second_)
    ms = int(digits[12:])
    at = datetime(2000 + year, month_, day_, hour_, minute_, second_, ms * 1000, tzinfo=UTC)
    return at, exact


def _days(year: int, month: int) -> int:
    first = datetime(year, month, 1, tzinfo=UTC)
    return ((first + timedelta(days=31)).replace(day=1) - timedelta(days=1)).day
