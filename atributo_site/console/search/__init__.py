"""The search of all rooms: what is typed is looked for in names, by kind, within a bounded time."""
