"""The screens of queues: the list, one queue, its settings and switches."""
