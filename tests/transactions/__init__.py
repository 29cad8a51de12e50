"""Tests of transactions over documents."""
