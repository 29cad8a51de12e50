"""Tests of the lists and pages of jobs."""
