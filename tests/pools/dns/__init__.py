"""Tests of resolvers, with a name server that fails in every way."""
