"""Check the numbers that users give: an error names the option and the value."""

from typing import Any

from pools.logic.errors import InvalidInput

PORTS = 65535


def is_number(value: Any) -> bool:
    """Return False for NaN, too, which is equal to nothing."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def check_positive(name: str, value: Any) -> None:
    if not is_number(value) or not value > 0:
        raise InvalidInput(f"{name} must be a positive number: {value!r}")


def check_wait(name: str, value: Any) -> None:
    """Accept infinity, and 0 for no wait at all."""
    if not is_number(value) or not value >= 0:
        raise InvalidInput(f"{name} must be a number of milliseconds, 0 or more: {value!r}")


def check_count(name: str, value: Any, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidInput(f"{name} must be a whole number, {least} or more: {value!r}")
    return value


def check_port(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= PORTS:
        raise InvalidInput(f"{name} must be a number from 1 to {PORTS}: {value!r}")
