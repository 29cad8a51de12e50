"""Properties of the functions without a database: undo, patches, waits."""
