"""Patterns of schemas in linear time: the syntax that is taken, and the engine that matches it."""
