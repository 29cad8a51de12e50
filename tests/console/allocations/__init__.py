"""Tests of the map and of rebalances."""
