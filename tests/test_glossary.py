"""Every word of docs/glossary.md occurs in the product's code."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["atributo_site", "allocation", "queues", "pools"]
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)
ENTRIES = re.findall(r"^\| \*\*(.+?)\*\* \|", (ROOT / "docs/glossary.md").read_text(), re.MULTILINE)
WORDS = [word for entry in ENTRIES for word in entry.split(" / ")]


@cache
def spoken() -> str:
    """Return the words of all module names, identifiers and docstrings, a line for each."""
    lines = {as_words(text) for path in product() for text in texts_of(path)}
    return "\n".join(sorted(lines))


def product() -> list[Path]:
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return [path for path in paths if "migrations" not in path.parts]


def texts_of(path: Path) -> Iterator[str]:
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, DOCUMENTED):
            yield ast.get_docstring(node) or ""
        for field in ("name", "id", "attr", "arg"):
            if isinstance(name := getattr(node, field, None), str):
                yield name


def as_words(text: str) -> str:
    """Return "held push" for HeldPush, held_push and held-push."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return " ".join(re.findall(r"\w+", apart.replace("_", " ").lower()))


def test_no_word_stands_twice():
    assert sorted(set(WORDS)) == sorted(WORDS)


@pytest.mark.parametrize("word", WORDS)
def test_a_word_occurs_in_the_code(word):
    assert re.search(rf"\b{as_words(word)}(?:e?s)?\b", spoken()), f"nobody says {word}"
