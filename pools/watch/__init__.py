"""The DNS watcher: it looks names up, writes what it observes and turns backends into instances."""
