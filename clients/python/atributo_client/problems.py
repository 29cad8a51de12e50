"""Turn answers that are failures into errors, and tell what is no answer of an Atributo site."""

import json
from typing import Any

from atributo_client import failures
from atributo_client.failures import AtributoError, NotAtributo
from atributo_client.generated import errors as of_rooms
from atributo_client.steps import Answer

KNOWN_MEMBERS = {"type", "title", "status", "code", "detail"}
RESERVED = {"message", "self", "retry_after_seconds"}


def _by_code() -> dict[str, type[AtributoError]]:
    classes = [*vars(failures).values(), *vars(of_rooms).values()]
    ours = [c for c in classes if isinstance(c, type) and issubclass(c, AtributoError)]
    return {each.code: each for each in reversed(ours)}


BY_CODE = _by_code()


def error_of(answer: Answer) -> AtributoError:
    """Return the error that a problem document stands for, chosen by its code."""
    wait = retry_after(answer)
    problem = _problem(answer)
    if problem is None:
        return NotAtributo(_strange(answer), status=answer.status, retry_after_seconds=wait)
    code = str(problem["code"])
    facts = {k: v for k, v in problem.items() if k not in KNOWN_MEMBERS | RESERVED}
    words = _words(problem)
    return BY_CODE.get(code, AtributoError)(
        words, status=answer.status, code=code, retry_after_seconds=wait, **facts
    )


def is_success(answer: Answer) -> bool:
    """Whether it is an answer of ours: JSON, or nothing."""
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    return answer.status < 300 and (is_json or not answer.content)


def retry_after(answer: Answer) -> float | None:
    """Return the seconds of the header Retry-After; a date in it is left alone."""
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


def _problem(answer: Answer) -> dict[str, Any] | None:
    if not answer.headers.get("content-type", "").startswith("application/problem+json"):
        return None
    try:
        body = answer.json()
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) and "code" in body else None


def _words(problem: dict[str, Any]) -> str:
    """Name the members that were refused, with the reasons."""
    detail, refused = str(problem.get("detail", "")), problem.get("errors")
    if not isinstance(refused, dict) or set(refused) == {"non_field_errors"}:
        return detail
    return f"{detail} {json.dumps(refused, ensure_ascii=False)}"


def _strange(answer: Answer) -> str:
    kind = answer.headers.get("content-type", "nothing")
    place = answer.headers.get("location")
    where = f" and points to {place}" if place else ""
    return (
        f"The answer {answer.status} ({kind}){where} is not that of an Atributo site: "
        "check the address."
    )
