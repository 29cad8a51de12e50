"""Check the messages of a child. Scripts run in the same process, so nothing else is believed."""

import json
from typing import Any

from queues.execution.context import LEVELS
from queues.logic.lifecycle import Ending
from queues.logic.options import CENTURY_MS
from queues.logic.storable import has_nul, is_storable, is_too_deep

LONGEST_LINE_BYTES = 32 * 1024 * 1024
LONGEST_TEXT = 25_000  # a traceback
LARGEST_NUMBER = 2**63
LARGEST_SPAN = 10**15  # milliseconds
LAST_MOMENT_MS = 4 * CENTURY_MS
ENDINGS = set(Ending)
PLAIN = (type(None), str, int, bool)
KNOWN_LEVELS = {*LEVELS, "print"}


class Nonsense(Exception):
    """A message that no child sends unless a script has replaced its functions."""


def understood(line: bytes) -> dict[str, Any]:
    """Read a line: a known message with members of the right types, fit to be stored."""
    try:
        text = line.decode()
        message, end = _scan(text, 0)
        is_right = end == len(text) and _CHECKS[message["t"]](message)
        is_right = is_right and _is_number(message["batch"]) and _is_number(message["job"])
    except (ValueError, RecursionError, LookupError, TypeError, StopIteration) as error:
        raise Nonsense(f"{type(error).__name__} in {line[:80]!r}") from error
    if not is_right:
        raise Nonsense(f"{line[:80]!r}")
    if ("\\u" in text and not _can_be_stored(message, text)) or is_too_deep(message, text):
        raise Nonsense("what no database stores")
    return message


_scan = json.JSONDecoder().scan_once  # type: ignore[attr-defined]
_encode_finite = json.JSONEncoder(allow_nan=False).encode


def _is_log(message: dict[str, Any]) -> bool:
    return (
        _is_text(message["text"]) and message["level"] in KNOWN_LEVELS and _is_moment(message["at"])
    )


def _is_progress(message: dict[str, Any]) -> bool:
    percent = message["percent"]
    return type(percent) in (int, float) and 0 <= percent <= 100 and _is_text(message["note"], 255)


def _is_transaction(message: dict[str, Any]) -> bool:
    return _is_number(message["id"]) and _is_number(message["epoch"])


def _is_stopped(message: dict[str, Any]) -> bool:
    return _is_text(message["spent"]) and type(message.get("unnoted", False)) is bool


def _is_hello(message: dict[str, Any]) -> bool:
    return _is_number(message["pid"]) and message["pid"] > 1


def _is_done(message: dict[str, Any]) -> bool:
    known = _is_moment(message["begun"]) and _is_moment(message["seconds"])
    if not known or not _is_text(message["spent"]):
        return False
    return _is_success(message) if message["ok"] is True else _is_failure(message)


def _is_success(message: dict[str, Any]) -> bool:
    if type(message["result"]) not in PLAIN:
        _encode_finite(message["result"])  # ValueError for what is no number
    noted = message.get("transaction")
    if noted is not None and not (_are_numbers(noted) and len(noted) == 2):
        return False
    return "pushes" not in message or _is_dry_run(message)


def _is_dry_run(message: dict[str, Any]) -> bool:
    pushes = message["pushes"]
    are_pushes = type(pushes) is list and all(type(push) is dict for push in pushes)
    return are_pushes and _are_numbers(message["transactions"])


def _is_failure(message: dict[str, Any]) -> bool:
    back_off, code = message["back_off"], message["status_code"]
    return (
        message["ok"] is False
        and _is_text(message["error"])
        and _is_text(message["traceback"])
        and type(message["abandoned"]) is bool
        and (back_off is None or (_is_number(back_off) and back_off <= LARGEST_SPAN))
        and (code is None or (_is_number(code) and 400 <= code <= 599))
        and _is_ending(message)
    )


def _is_ending(message: dict[str, Any]) -> bool:
    ending, due = message.get("ending"), message.get("due")
    is_moment = due is None or (_is_number(due) and due <= LAST_MOMENT_MS)
    return (ending is None or ending in ENDINGS) and is_moment


def _is_text(value: Any, longest: int = LONGEST_TEXT) -> bool:
    return type(value) is str and len(value) <= longest


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value < LARGEST_NUMBER


def _are_numbers(value: Any) -> bool:
    return type(value) is list and all(map(_is_number, value))


def _is_moment(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < LARGEST_NUMBER


def _can_be_stored(message: dict[str, Any], text: str) -> bool:
    return not has_nul(text) and is_storable(json.dumps(message, ensure_ascii=False))


_CHECKS = {
    "log": _is_log,
    "progress": _is_progress,
    "transaction": _is_transaction,
    "stopped": _is_stopped,
    "hello": _is_hello,
    "done": _is_done,
}
