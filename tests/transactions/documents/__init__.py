"""Tests of documents: reading, history, search, secrets."""
