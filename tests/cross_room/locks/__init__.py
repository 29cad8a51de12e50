"""Clients of transactions that are killed while they hold locks, seen from outside."""
