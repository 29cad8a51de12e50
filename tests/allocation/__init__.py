"""Tests of instances, and of keys that are allocated to them."""
