"""Response: the answer of an operation on documents, which reads like its JSON."""

from collections.abc import Iterator, MutableMapping
from typing import Any

from atributo_site.core.errors import AtributoError


class Response(MutableMapping[str, Any]):
    """A mapping over the JSON value; a member that is missing reads as None."""

    def __init__(
        self,
        status_code: int,
        json: Any = None,
        *,
        collection: str = "",
        key: str = "",
        ref: str = "",
        token: int | None = None,
        error: AtributoError | None = None,
    ) -> None:
        self.status_code = status_code
        self.json = {} if json is None and status_code != 200 else json
        self.collection = collection
        self.key = key
        self.ref = ref
        self.token = token
        self._error = error

    @classmethod
    def refused(cls, error: AtributoError, collection: str, key: str) -> "Response":
        return cls(error.status_code, collection=collection, key=key, error=error)

    @property
    def ok(self) -> bool:
        return self._error is None

    def raise_for_status(self) -> None:
        if self._error is not None:
            raise self._error

    def __getitem__(self, name: str) -> Any:
        return self._members.get(name)

    def __setitem__(self, name: str, value: Any) -> None:
        self.json[name] = value

    def __delitem__(self, name: str) -> None:
        del self.json[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def _members(self) -> dict[str, Any]:
        """Return the members of an object; a list, a number or null is read by `.json`."""
        return self.json if isinstance(self.json, dict) else {}

    def __repr__(self) -> str:
        return f"<Response {self.status_code} {self.collection}/{self.key} {self.ref}>"
