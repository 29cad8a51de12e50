"""The fixtures that every test may use, by the module that explains them."""

from tests.fixtures.databases import (
    database,
    django_db_setup,
    migrated_database,
    migrated_databases,
    process_environment,
)

__all__ = [
    "database",
    "django_db_setup",
    "migrated_database",
    "migrated_databases",
    "process_environment",
]
