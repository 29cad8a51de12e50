"""Tests of the screens of schedules."""
