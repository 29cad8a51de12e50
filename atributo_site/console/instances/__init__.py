"""The screens of instances: the list, one instance, draining and what can be done to it."""
