"""Refuse settings that no instance can have, before a transaction begins."""

from collections.abc import Mapping

from allocation.errors import InvalidSetting
from allocation.logic.instance_settings import refusal


def check_request(**values: object) -> None:
    _refuse(refusal(values))


def check_settings(settings: Mapping[str, object]) -> None:
    """Check weight, capacity and labels, and refuse any other name."""
    _refuse(refusal(settings, settings_only=True))


def _refuse(why: str | None) -> None:
    if why is not None:
        raise InvalidSetting(why)
