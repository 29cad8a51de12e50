"""Django's Tasks API on our queues."""
