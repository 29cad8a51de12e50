"""Tests of placing keys, moving them and draining instances."""
