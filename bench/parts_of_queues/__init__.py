"""The contestants of `bench.queues`, each in a process of its own."""
