"""The document store: read, write, patch and search documents; history, relations, events."""
