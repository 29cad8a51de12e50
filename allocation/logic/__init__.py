"""Decisions about placement, drains and ids as plain functions: no Django, no clock, no network."""
