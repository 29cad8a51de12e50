"""Decisions about names: questions, answers, TTLs, cached records, when a change is believed."""
