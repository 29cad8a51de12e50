"""Tests of HTTP agents and of what goes over the wire."""
