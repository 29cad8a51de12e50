"""Declared functions: what can be pushed, what is refused, how they run and look."""
