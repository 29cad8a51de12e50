"""Decisions about jobs, queues and services as plain functions: no Django, no clock, no network."""
