"""Read JSON strictly: refuse what is ambiguous, and say why."""

import codecs
import json
import math
from collections.abc import Iterator, Mapping
from typing import IO, Any, NoReturn

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

DEEPEST = 32
LONGEST_INTEGER = 40  # digits


class NotStrictJSON(ValueError):
    """The text says what is wrong."""


class StrictJSONParser(BaseParser):
    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        limit = settings.ATRIBUTO.body_bytes
        raw = stream.read(limit + 1)
        if len(raw) > limit:
            raise RequestDataTooBig
        try:
            return parsed(raw)
        except NotStrictJSON as error:
            raise ParseError(f"The body is not valid JSON: {error}.") from error


def parsed(raw: bytes) -> Any:
    value = _decoded(_text(raw))
    for text in _texts(value):
        _refuse_unstorable(text)
    return value


def _text(raw: bytes) -> str:
    if raw.startswith(codecs.BOM_UTF8):
        raise NotStrictJSON("it starts with a byte order mark")
    try:
        text = raw.decode("utf-8", "strict")
    except UnicodeDecodeError as error:
        raise NotStrictJSON(f"byte {error.start} is not UTF-8") from error
    if not text.strip(" \t\r\n"):
        raise NotStrictJSON("it is empty")
    return text


def _decoded(text: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_int=_integer,
            parse_float=_finite,
        )
    except json.JSONDecodeError as error:
        raise NotStrictJSON(f"{error.msg} at character {error.pos}") from error
    except RecursionError as error:
        raise NotStrictJSON(f"it is nested deeper than {DEEPEST}") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise NotStrictJSON(f"the name {name[:100]!r} stands twice in one object")
        members[name] = value
    return members


def _refuse_constant(name: str) -> NoReturn:
    raise NotStrictJSON(f"{name} is not a JSON number")


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > LONGEST_INTEGER:
        raise NotStrictJSON(f"an integer has more than {LONGEST_INTEGER} digits")
    return int(digits)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise NotStrictJSON("a number is too large")
    return number


def _texts(value: Any) -> Iterator[str]:
    """Yield every string and name of a value; refuse a value that is nested too deep."""
    level = [value]
    for _ in range(DEEPEST + 1):
        yield from (item for item in level if isinstance(item, str))
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return
        level = [child for item in containers for child in _children(item)]
    raise NotStrictJSON(f"it is nested deeper than {DEEPEST}")


def _children(container: dict[str, Any] | list[Any]) -> list[Any]:
    if isinstance(container, dict):
        return [*container, *container.values()]
    return container


def _refuse_unstorable(text: str) -> None:
    if "\x00" in text:
        raise NotStrictJSON("a string contains the NUL character")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise NotStrictJSON("a string contains half of a surrogate pair") from error
