"""Tests of allocation over REST, on screens and from the terminal."""
