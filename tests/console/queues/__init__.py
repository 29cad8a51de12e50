"""Tests of the list and the pages of queues."""
