"""Tests of the instances themselves."""
