"""Tests of the servers that other tests use."""
