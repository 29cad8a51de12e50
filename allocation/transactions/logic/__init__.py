"""Decide about JSON values, patches, searches, undo and waits by plain functions."""
