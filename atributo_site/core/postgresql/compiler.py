"""Repeat a read of the ORM that loses its connection once, over a new one."""

from typing import Any

from django.db.backends.postgresql import compiler

from atributo_site.core.errors import ConnectionLost

SQLDeleteCompiler = compiler.SQLDeleteCompiler
SQLInsertCompiler = compiler.SQLInsertCompiler
SQLUpdateCompiler = compiler.SQLUpdateCompiler


class AskedAgain:
    """Ask again, but not inside a transaction, which is over with its connection."""

    connection: Any

    def execute_sql(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().execute_sql(*args, **kwargs)  # type: ignore[misc]
        except ConnectionLost:
            if not self.connection.autocommit:
                raise
        return super().execute_sql(*args, **kwargs)  # type: ignore[misc]


class SQLCompiler(AskedAgain, compiler.SQLCompiler):
    pass


class SQLAggregateCompiler(AskedAgain, compiler.SQLAggregateCompiler):
    pass
