"""Tests of the pages of instances."""
