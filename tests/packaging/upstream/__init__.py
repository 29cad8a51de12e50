"""Django's own tests for task backends, run against ours; they are downloaded, never kept here."""
