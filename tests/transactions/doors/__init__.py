"""Tests of transactions over REST and from the terminal."""
