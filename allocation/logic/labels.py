"""Labels that a job asks of its instance: compare them, write them down, tell them."""

import json
from collections.abc import Iterable, Mapping

Labels = Mapping[str, str]
NO_LABELS: Labels = {}


def as_texts(labels: Mapping[str, object] | None) -> dict[str, str]:
    """Return the values as texts, as they are compared: 1 and "1" are the same."""
    return {name: str(value) for name, value in (labels or {}).items()}


def has(labels: Labels, wanted: Labels) -> bool:
    """Return whether all wanted labels are there; others may be there as well."""
    return all(labels.get(name) == value for name, value in wanted.items())


def encoded(labels: Labels | None) -> str | None:
    """Return one text for equal labels; None if none are wanted."""
    return json.dumps(labels, sort_keys=True) if labels else None


def read(texts: Iterable[str]) -> dict[str, str]:
    """Read `name=value` of each text; raise ValueError that names the one that is none."""
    labels: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.strip().partition("=")
        if not equals or not name:
            raise ValueError(f"{text!r} is not a label: write name=value")
        if labels.get(name, value) != value:
            raise ValueError(f"the label {name} is there twice")
        labels[name] = value
    return labels


def sentence(labels: Labels) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(labels.items()))
