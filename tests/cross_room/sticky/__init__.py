"""Tests of jobs that follow a key to its instance."""
