"""The REST API of services, queues, jobs and operations."""
