"""The terminal's door to services, queues and jobs."""
