"""Services on disk and in the database: read, install, upgrade, and try a script in a dry run."""
