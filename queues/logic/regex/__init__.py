"""Patterns of schemas in linear time: the syntax that is accepted, and the matching engine."""
