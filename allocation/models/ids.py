"""The type of job ids and instance ids."""

from typing import Any

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

from allocation.logic.ids import LONGEST


class IdField(models.CharField):
    """Text that both databases order by code point, as Python does.

    PostgreSQL would otherwise order by its locale, and Django would add a second index for
    prefixes, which this collation does not need.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["max_length"] = LONGEST
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> tuple[Any, Any, Any, Any]:
        name, path, args, kwargs = super().deconstruct()
        del kwargs["max_length"]
        return name, path, args, kwargs

    def db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        if connection.vendor == "postgresql":
            return f'character varying({self.max_length}) COLLATE "C"'
        return super().db_type(connection)

    def cast_db_type(self, connection: BaseDatabaseWrapper) -> str | None:
        return super().db_type(connection)
