"""Tests of the worker and of the processes that run its scripts."""
