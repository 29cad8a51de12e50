"""Django's schema editor: an index on a table with rows is left to the end of `migrate`.

CREATE INDEX inside a migration's transaction would keep all writers of the table out until the
migration ends. See `pending_indexes` for how it is built instead.
"""

from typing import Any

from django.db.backends.ddl_references import Statement
from django.db.backends.postgresql import schema

from atributo_site.core.postgresql import pending_indexes

PLAIN, CONCURRENTLY = "CREATE INDEX ", "CREATE INDEX CONCURRENTLY "


class DatabaseSchemaEditor(schema.DatabaseSchemaEditor):
    def add_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        if concurrently or not self._has_rows(model):
            return super().add_index(model, index, concurrently)
        self._postpone(model, index.create_sql(model, self))

    def remove_index(self, model: Any, index: Any, concurrently: bool = False) -> None:
        if not self.collect_sql:
            pending_indexes.forget(self.connection, index.name)
        super().remove_index(model, index, concurrently)

    def _field_indexes_sql(self, model: Any, field: Any) -> list[Statement]:
        statements = super()._field_indexes_sql(model, field)  # type: ignore[misc]
        if not statements or not self._has_rows(model):
            return statements
        for statement in statements:
            self._postpone(model, statement)
        return []

    def _has_rows(self, model: Any) -> bool:
        if self.collect_sql:  # somebody wants to read the statements only
            return False
        table = self.connection.ops.quote_name(model._meta.db_table)
        with self.connection.cursor() as cursor:
            cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {table})")  # nosec B608 # of constants and dialect
            return cursor.fetchone()[0]

    def _postpone(self, model: Any, statement: Statement) -> None:
        name = str(statement.parts["name"]).strip('"')
        build = str(statement).replace(PLAIN, CONCURRENTLY, 1)
        pending_indexes.add(self.connection, name, model._meta.db_table, build)
