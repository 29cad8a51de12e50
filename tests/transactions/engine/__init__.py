"""Tests of locks, writes, crashes and what ends a transaction."""
