"""Tests of the adapters for other HTTP libraries."""
