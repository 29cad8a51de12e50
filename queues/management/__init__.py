"""The commands of services, queues and jobs."""
