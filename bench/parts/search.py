"""Type into the search box and measure each answer; bench.parts.screens runs this."""

import statistics
import time

from django.test import Client

from allocation.transactions.models import Document
from tests.config.copies import copies
from tests.console.many_rows import FIRST_JOB, analyze

ROUNDS = 7
LIMIT_MS = 100
TYPED = [
    "m", "ma", "many-", "many-99", "9", "any-7", "send-mail", "transfer", "teapot", "error",
    "web", "mail", "many.happened", "nowhere at all", "documents/many", "%", "_", "é",
    str(FIRST_JOB)[:4], str(FIRST_JOB + 7), "1", "checkout", "bench", "a b c d e f g h",
]  # fmt: skip


def fill_documents(rows: int) -> None:
    """Make as many documents as there are jobs; they are placed beside those that there are."""
    one = Document.objects.filter(key="other").first()
    missing = rows - Document.objects.count()
    if missing > 0:
        copies(one, missing, key="'more-' || n", ref="'more-' || n")
        analyze()


def every_text(client: Client) -> list[str]:
    """Print a line for each text; return those whose median misses the limit."""
    slow = [text for text in TYPED if not _line(client, text)]
    print(f"  {len(TYPED)} texts typed; over {LIMIT_MS} ms: {len(slow)}", flush=True)
    return slow


def _line(client: Client, text: str) -> bool:
    times = sorted(_milliseconds(client, text) for _ in range(ROUNDS))
    middle, worst = statistics.median(times), times[-1]
    good = middle <= LIMIT_MS
    print(f"  {text[:40]:41}{middle:7.1f} ms {worst:7.1f} ms{'' if good else '  <<<'}", flush=True)
    return good


def _milliseconds(client: Client, text: str) -> float:
    start = time.perf_counter()
    client.get("/search/", {"q": text}, headers={"HX-Target": "suggestions"})
    return (time.perf_counter() - start) * 1000
