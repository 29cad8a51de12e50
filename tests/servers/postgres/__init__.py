"""A private PostgreSQL with databases that are migrated already."""
