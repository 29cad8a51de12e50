"""Tests of resolvers, pools and agents."""
