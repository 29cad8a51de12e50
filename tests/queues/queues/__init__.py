"""Tests of queues themselves: many, large and scaled ones, and what they keep."""
