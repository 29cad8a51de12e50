"""Tests of the push form and of fields made from a schema."""
