"""Refuse what cannot be asked of an instance before a transaction opens."""

from collections.abc import Mapping

from allocation.errors import InvalidSetting
from allocation.logic.instance_settings import refusal


def check_request(**wishes: object) -> None:
    _refuse(refusal(wishes))


def check_settings(settings: Mapping[str, object]) -> None:
    """Weight, capacity and labels, and nothing else that may be asked for."""
    _refuse(refusal(settings, settings_only=True))


def _refuse(why: str | None) -> None:
    if why is not None:
        raise InvalidSetting(why)
