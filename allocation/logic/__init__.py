"""Decide about placements, drains and ids by plain functions: no Django, no clock, no network."""
