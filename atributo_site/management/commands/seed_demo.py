"""Fill the site with demo content, so that nobody's first look is at an empty page."""

from typing import Any

from atributo_site.commands import AtributoCommand
from atributo_site.core.errors import AtributoError
from atributo_site.core.events import record
from atributo_site.demo import allocation, documents, history, pools, queues

CHAPTERS = {
    "allocation": allocation,
    "documents": documents,
    "queues": queues,
    "history": history,
    "pools": pools,
}


class NotEmpty(AtributoError):
    status_code = 409
    code = "not_empty"


class Command(AtributoCommand):
    has_json = False
    help = "Fill an empty site with demo content."

    def add_arguments(self, parser: Any) -> None:
        parser.add_argument("--force", action="store_true", help="Even beside real content.")

    def perform(self, *, force: bool, **options: Any) -> None:
        full = [name for name, chapter in CHAPTERS.items() if not chapter.is_empty()]
        if full and not force:
            raise NotEmpty(f"there is content already ({', '.join(full)}); --force adds to it.")
        for chapter in CHAPTERS.values():
            chapter.seed()
        record("demo.made", "site:demo", chapters=list(CHAPTERS))
        self.stdout.write("Demo content is loaded.")
