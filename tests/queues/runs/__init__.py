"""Tests of bells, slots, reservations and outcomes."""
