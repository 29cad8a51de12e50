"""List every sentence that people read on screens and in messages: python -m tests.sentences

The list is read in one go, as a proof: each line is "file: sentence".
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ["atributo_site", "allocation", "queues", "pools"]
HIDDEN = {"migrations", "sql", "store", "storage"}  # rooms of statements
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
INLINE = r"</?(?:a|strong|code|span|small|em|kbd|b|time)\b[^>]*>"
READ_OUT = r'\b(?:placeholder|aria-label|title|alt)="([^"]*)"'
STATEMENT = re.compile(
    r"\b(SELECT|UPDATE|INSERT|DELETE FROM|WHERE|FROM|AND [a-z_]+\.)\s|%\(|<\w+ class="
)


def sentences() -> Iterator[tuple[str, str]]:
    """Give (file, sentence) for templates, then for the texts in the code."""
    for path in sorted((ROOT / "templates").rglob("*.html")):
        yield from ((_name(path), each) for each in _unique(of_template(path.read_text())))
    for path in sorted(p for room in PRODUCT for p in (ROOT / room).rglob("*.py")):
        if not HIDDEN & set(path.parts):
            yield from ((_name(path), each) for each in _unique(of_code(path.read_text())))


def of_template(text: str) -> Iterator[str]:
    text = re.sub(r"{% comment %}.*?{% endcomment %}|{#.*?#}", "", text, flags=re.DOTALL)
    for tag in re.findall(r"{%.*?%}", text):
        yield from (each for each in re.findall(r'"([^"]*)"', tag) if _is_sentence(each))
    text = re.sub(r"{{.*?}}", "…", re.sub(r"{%.*?%}", " ", text))
    yield from (each for each in re.findall(READ_OUT, text) if _is_sentence(each))
    for line in re.sub(r"<[^>]*>", "\n", re.sub(INLINE, "", text)).splitlines():
        said = " ".join(line.split())
        if re.search(r"[A-Za-z]{2}", said):
            yield said


def of_code(text: str) -> Iterator[str]:
    """Give the texts of a module that are not docstrings, with … for what is filled in."""
    tree = ast.parse(text)
    inner = {id(part) for node in ast.walk(tree) for part in _parts(node)}
    for node in ast.walk(tree):
        if id(node) not in inner and (said := _said(node)) and _is_sentence(said):
            yield " ".join(said.split())


def _parts(node: ast.AST) -> list[ast.AST]:
    """Return docstrings and the pieces of f-strings, which are no texts of their own."""
    if isinstance(node, ast.JoinedStr):
        return [part for part in ast.walk(node) if part is not node]
    if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
        return [node.body[0].value]  # type: ignore[attr-defined]
    return []


def _said(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(v.value if isinstance(v, ast.Constant) else "…" for v in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_sentence(text: str) -> bool:
    words = re.findall(r"[A-Za-z]{2,}", text)
    return len(words) >= 2 and " " in text and not STATEMENT.search(text)


def _unique(texts: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(texts))


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


if __name__ == "__main__":
    for name, sentence in sentences():
        print(f"{name}: {sentence}".encode("utf-8", "replace").decode())
