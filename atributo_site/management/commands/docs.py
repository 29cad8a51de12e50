"""Print a page of the docs in the terminal, or list the pages."""

import argparse
from typing import Any

from atributo_site.commands import AtributoCommand
from atributo_site.manual import pages


class Command(AtributoCommand):
    help = "Print a page of the docs, such as `docs queues`; without a name, list the pages."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("page", nargs="?", default=None, help="The name of a page.")

    def perform(self, *, page: str | None, json: bool, **options: Any) -> None:
        if page is None:
            return self._list(json)
        text = pages.page(page.strip("/")).text
        if json:
            return self.show({"page": page, "text": text})
        if self.stdout.isatty():
            return self._formatted(text)
        self.lines(text.splitlines())

    def _list(self, as_json: bool) -> None:
        listed = [
            {"page": name, "title": title, "section": section.title}
            for section in pages.sections()
            for name, title in section.pages
        ]
        if as_json:
            return self.show(listed)
        self.table(["page", "title", "section"], [list(each.values()) for each in listed])

    def _formatted(self, text: str) -> None:
        from rich.console import Console  # loaded here, because only people see it
        from rich.markdown import Markdown

        Console(file=self.stdout).print(Markdown(text))  # type: ignore[arg-type]
