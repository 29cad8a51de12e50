"""Tests of the docs as the site serves them."""
