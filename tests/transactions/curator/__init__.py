"""Tests of what a curator repairs, and of what operators do."""
