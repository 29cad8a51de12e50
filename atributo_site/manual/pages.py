"""Find the pages: each has a name such as "queues", "decisions" or "changelog"."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath

from atributo_site.config.places import BASE_DIR
from atributo_site.core.errors import AtributoError

FRONT = ""  # the name of the page that lists the others
PACKED = Path(__file__).parent / "pages"  # where a wheel has them; a checkout has docs/
BESIDE = {  # pages beside docs/ in a checkout
    "CHANGELOG.md": "changelog",
    "CONTRIBUTING.md": "contributing",
    "SECURITY.md": "security-policy",
}
PICTURES = {".png": "image/png", ".svg": "image/svg+xml"}
HEADING = re.compile(r"^## (.+)$")
LINK = re.compile(r"\[([^\[\]]+)\]\(([\w./-]+\.md)\)")


class NoSuchPage(AtributoError):
    """The docs have no page of this name."""

    status_code = 404
    code = "no_such_page"


@dataclass(frozen=True)
class Page:
    """A file of the docs; `path` is where it is in a checkout, which links are relative to."""

    name: str
    path: str
    file: Path

    @property
    def text(self) -> str:
        return self.file.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Section:
    """A heading of the front page with the names and titles of the pages below it."""

    title: str
    pages: tuple[tuple[str, str], ...]


def folder() -> Path:
    return PACKED if PACKED.is_dir() else BASE_DIR / "docs"


@cache
def pages() -> dict[str, Page]:
    """Return every page by its name; a process sees those that were there when it first asked."""
    below = [(f"docs/{file.relative_to(folder()).as_posix()}", file) for file in _markdown()]
    beside = [(name, folder().parent / name) for name in BESIDE]
    found = [(path, file) for path, file in [*below, *beside] if file.is_file()]
    return {name: Page(name, path, file) for path, file in found for name in [name_of(path)]}


def _markdown() -> list[Path]:
    return sorted(folder().rglob("*.md"))


def name_of(path: str) -> str:
    """Return the name of the page at a path: docs/decisions/README.md is "decisions"."""
    if path in BESIDE:
        return BESIDE[path]
    parts = PurePosixPath(path.removeprefix("docs/")).with_suffix("").parts
    return "/".join(parts[:-1] if parts[-1] == "README" else parts)


def page(name: str) -> Page:
    """Return the page; only names from the list of files count, so none leads elsewhere."""
    try:
        return pages()[name]
    except KeyError:
        raise NoSuchPage(f"The docs have no page called {name[:100]!r}.") from None


def picture(name: str) -> tuple[bytes, str]:
    """Return a picture of docs/images and its type."""
    known = {file.name: file for file in (folder() / "images").glob("*")}
    file = known.get(name)
    if file is None or file.suffix not in PICTURES:
        raise NoSuchPage(f"The docs have no picture called {name[:100]!r}.")
    return file.read_bytes(), PICTURES[file.suffix]


@cache
def sections() -> tuple[Section, ...]:
    """Return the table of all pages as the front page gives it: headings with links below."""
    found: list[tuple[str, list[tuple[str, str]]]] = []
    for line in page(FRONT).text.splitlines():
        if heading := HEADING.match(line):
            found.append((heading[1], []))
        elif found:
            found[-1][1].extend(_links(line))
    return tuple(Section(title, tuple(links)) for title, links in found if links)


def _links(line: str) -> list[tuple[str, str]]:
    paths = [(_from_docs(path), title) for title, path in LINK.findall(line)]
    return [(name_of(path), title) for path, title in paths if name_of(path) in pages()]


def _from_docs(path: str) -> str:
    return path.removeprefix("../") if path.startswith("../") else f"docs/{path}"
