"""Tests of queues over REST, on screens and from the terminal."""
