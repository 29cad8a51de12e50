"""The REST doors of services, queues, jobs and operations."""
