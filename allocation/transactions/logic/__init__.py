"""Decisions about JSON values, patches, searches, undoing and waiting as plain functions."""
