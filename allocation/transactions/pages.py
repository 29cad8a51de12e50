"""Pages: the answers of list, search, refs, relations and events, one page at a time."""

from collections.abc import Callable, Iterator
from typing import Any

from allocation.transactions.response import Response

Fetch = Callable[[Any], tuple[list[dict[str, Any]], Any]]


class Pages(Iterator[Response]):
    """`fetch(position)` gives the results from a position, and the next position or None."""

    def __init__(self, fetch: Fetch, start: Any = None) -> None:
        self._fetch = fetch
        self._start = start
        self.reset()

    def reset(self) -> None:
        self._positions = [self._start]
        self._at = -1
        self._ended = False

    def __next__(self) -> Response:
        if self._ended:
            raise StopIteration
        self._at += 1
        return self._page()

    def next(self) -> Response:
        return next(self)

    def prev(self) -> Response:
        if self._at <= 0:
            raise StopIteration
        self._at -= 1
        return self._page()

    def all(self) -> list[dict[str, Any]]:
        """The results of every page, from the first."""
        self.reset()
        return [result for page in self for result in page["results"]]

    def _page(self) -> Response:
        results, following = self._fetch(self._positions[self._at])
        self._ended = following is None
        if following is not None and len(self._positions) == self._at + 1:
            self._positions.append(following)
        return Response(200, {"count": len(results), "results": results, "next": following})
