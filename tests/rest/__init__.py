"""Tests of what all REST operations share: problems, limits, pages, tokens, the schema."""
