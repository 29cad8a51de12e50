"""Tests of schedules: operations, dispatch, policies and doors."""
