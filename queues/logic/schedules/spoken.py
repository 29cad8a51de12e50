"""Read rules and moments as people write them: "every 5 minutes", "mon, fri at 9:00", "tomorrow".

Each text is cut at commas and spaces and read word by word, so the time grows with its length.
"""

from datetime import datetime, timedelta, tzinfo
from typing import Any

from queues.logic.schedules.cron import WEEKDAY_NAMES
from queues.logic.schedules.errors import BadRule, shown
from queues.logic.schedules.timings import moment
from queues.logic.schedules.wall_clock import moment_on_wall

LONGEST = 4000
UNITS = {"second": 1000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000} | {
    "week": 604_800_000
}
SHORT = {"s": "second", "m": "minute", "min": "minute", "h": "hour", "d": "day", "w": "week"}
WORKDAYS = ["mon", "tue", "wed", "thu", "fri"]
TIMES = "tomorrow 14:00, in 5 minutes or 2030-01-31 12:00"
EXAMPLES = (
    'write "every 90 minutes", "every day at 09:00", "mon, fri at 9:00, 17:30", '
    '"last day at 18:00", times such as 2030-01-31 12:00, or cron such as 0 9 * * mon-fri'
)


def rule_from(text: str) -> dict[str, Any]:
    """Return the rule that a text means; what it contains is checked as any rule is."""
    if len(text) > LONGEST:
        raise BadRule(f"a rule has at most {LONGEST} characters")
    words = text.split()
    if not words:
        raise BadRule(f"the rule is empty; {EXAMPLES}")
    first = words[0].lower()
    if first == "cron":
        return {"cron": " ".join(words[1:])}
    if first.startswith("@") or (len(words) == 5 and _looks_like_cron(words)):
        return {"cron": " ".join(words)}
    if "at" in (word.lower() for word in words):
        return {"calendar": _calendar(text, words)}
    if first == "every":
        return {"every": _span(text, words[1:])}
    if _is_span(words):
        raise BadRule(f"{shown(text)} is a duration; write every {text.strip()[:40]}")
    if first[:1].isdigit():
        return {"moments": [each.strip() for each in text.split(",") if each.strip()]}
    raise BadRule(f"{shown(text)} is not a rule; {EXAMPLES}")


def rule_written(rule: dict[str, Any], said: str) -> str:
    """Return a text that `rule_from` reads back; `said` is the rule in words."""
    return ", ".join(map(str, rule["moments"])) if "moments" in rule else said


def moment_from(text: str, zone: tzinfo, now: datetime) -> datetime:
    """Read "tomorrow 14:00", "14:00", "in 5 minutes" or 2030-01-31 12:00, in the zone."""
    words = text.lower().split()
    if words[:1] == ["now"]:
        return now
    if words[:1] == ["in"] or _is_span(words):
        span = _span(text, words[1:] if words[0] == "in" else words)
        return now + timedelta(milliseconds=span)
    local = now.astimezone(zone)
    days = {"today": 0, "tomorrow": 1}
    if words and words[0] in days:
        day, rest = local.date() + timedelta(days=days[words[0]]), words[1:] or ["00:00"]
        return _on_the_wall(text, f"{day.isoformat()}T{_padded(rest[-1])}", zone)
    if len(words) == 1 and ":" in words[0] and len(words[0]) <= 5:
        return _next_at(local, words[0], zone, now)
    return _on_the_wall(text, text.strip(), zone)


def _on_the_wall(text: str, given: str, zone: tzinfo) -> datetime:
    try:
        return moment("time", given, zone)
    except BadRule as error:
        if "is not a time" not in str(error):
            raise
        raise BadRule(f"{shown(text)} is not a time; write {TIMES}") from error


def _is_span(words: list[str]) -> bool:
    """Say whether the words are a duration such as "5 minutes" or "90m"."""
    if not words or not words[0][0].isdigit():
        return False
    return words[-1].lower().removesuffix("s") in UNITS or words[0][-1].lower() in SHORT


def _next_at(local: datetime, time: str, zone: tzinfo, now: datetime) -> datetime:
    """Return the time today, or tomorrow if it is over."""
    today = moment("time", f"{local.date().isoformat()}T{_padded(time)}", zone)
    if today > now:
        return today
    naive = today.astimezone(zone).replace(tzinfo=None, fold=0) + timedelta(days=1)
    return moment_on_wall(naive, zone)


def _padded(time: str) -> str:
    return time if ":" in time[2:] else f"0{time}"


def _looks_like_cron(words: list[str]) -> bool:
    return all(word[0] in "*0123456789" or word[0].isalpha() for word in words) and (
        words[0][0] in "*0123456789" and words[1][0] in "*0123456789"
    )


def _calendar(text: str, words: list[str]) -> dict[str, Any]:
    at = [word.lower() for word in words].index("at")
    times = [each for word in words[at + 1 :] for each in word.split(",") if each and each != "and"]
    days = [each for word in words[:at] for each in word.lower().split(",") if each]
    found: dict[str, Any] = {"weekdays": [], "days": [], "times": times}
    for number, word in enumerate(days):
        before = days[number - 1] if number else ""
        _add_day(found, word, before, text)
    return {name: values for name, values in found.items() if values}


def _add_day(found: dict[str, Any], word: str, before: str, text: str) -> None:
    if word in ("every", "daily", "day", "days", "and", "on", "of", "the", "month"):
        return
    if word in ("weekday", "weekdays", "workdays"):
        found["weekdays"] += WORKDAYS
    elif word == "last":
        found["days"].append("last")
    elif word[:3] in WEEKDAY_NAMES and word.isalpha():
        found["weekdays"].append(word[:3])
    elif word.isascii() and word.isdigit() and len(word) <= 2:
        found["days"].append(int(word))
    else:
        raise BadRule(f"{shown(word)} in {shown(text)} is not a day; {EXAMPLES}")


def _span(text: str, words: list[str]) -> int:
    """Read "5 minutes", "minute", "1h30m" or "1 hour 30 minutes" in milliseconds."""
    total, number = 0, ""
    for char_group in _parts(words):
        if char_group.isdigit() and char_group.isascii() and len(char_group) <= 9:
            number = char_group
            continue
        unit = SHORT.get(char_group, char_group.removesuffix("s") if len(char_group) > 2 else "")
        if unit not in UNITS:
            raise BadRule(f"{shown(text)} is not a duration; write 5 minutes, 90m or 1h30m")
        total += int(number or 1) * UNITS[unit]
        number = ""
    if not total or number:
        raise BadRule(f"{shown(text)} is not a duration; write 5 minutes, 90m or 1h30m")
    return total


def _parts(words: list[str]) -> list[str]:
    """Cut words where digits and letters meet."""
    parts: list[str] = []
    for word in words:
        begin = 0
        for place in range(1, len(word) + 1):
            if place == len(word) or word[place].isdigit() != word[begin].isdigit():
                parts.append(word[begin:place].lower())
                begin = place
    return parts
