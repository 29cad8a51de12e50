"""Tests of the rules of schedules."""
