"""Rows and texts that tests of several rooms need."""
