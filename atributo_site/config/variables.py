"""Describe one environment variable, parse it and refuse what does not fit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

Parser = Callable[[str], Any]


class BadEnvironment(Exception):
    """The settings cannot be used; the text says which and why."""


@dataclass(frozen=True)
class Variable:
    name: str
    default: str
    parse: Parser
    sentence: str
    secret: bool = False


def variable(name: str, default: str, parse: Parser, sentence: str, *, secret: bool = False) -> Any:
    """Return a dataclass field that is read from the environment."""
    return field(metadata={"variable": Variable(name, default, parse, sentence, secret)})


def variables_of(cls: type) -> dict[str, Variable]:
    """Return field name → variable, in the order of declaration."""
    return {f.name: f.metadata["variable"] for f in fields(cls)}


def parse_all(cls: type, environ: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the parsed values, and one sentence for each variable that cannot be used."""
    values: dict[str, Any] = {}
    refusals = []
    for attribute, var in variables_of(cls).items():
        text = environ.get(var.name, "").strip() or var.default
        try:
            values[attribute] = var.parse(text)
        except ValueError as error:
            instead_of = "" if var.secret else f", not {text!r}"
            refusals.append(f"{var.name} must be {error}{instead_of}.")
    return values, refusals


def words(text: str) -> str:
    return text


def whole(least: int, most: int) -> Parser:
    def parse(text: str) -> int:
        is_number = text.isascii() and text.isdigit() and len(text) < 20
        if not is_number or not least <= int(text) <= most:
            raise ValueError(f"a whole number from {least} to {most}")
        return int(text)

    return parse


def one_of(*choices: str) -> Parser:
    def parse(text: str) -> str:
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text

    return parse


def yes_or_no(text: str) -> bool:
    if text.lower() not in {"yes", "no"}:
        raise ValueError("yes or no")
    return text.lower() == "yes"


def listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
