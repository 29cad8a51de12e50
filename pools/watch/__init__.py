"""The DNS watcher: it looks names up, writes observations and turns backends into instances."""
