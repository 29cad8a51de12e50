"""Spans of time as arguments of a command."""

import argparse
from typing import Any

from allocation.logic.spans import milliseconds


def span(text: str) -> int:
    """In milliseconds; a bare number is milliseconds already."""
    found = int(text) if text.isascii() and text.isdigit() else milliseconds(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is no span like 500ms, 5m or 1h30m")
    return found


def back_off(text: str) -> Any:
    """A span, or a strategy with its unit: foxx:5s."""
    strategy, colon, unit = text.rpartition(":")
    return {"strategy": strategy, "ms": span(unit)} if colon else span(text)
