"""Decisions about names: questions, answers, TTLs, records, when a change is believed."""
