"""Decisions about connections: sizes, claims, slots, health, rebalancing."""
