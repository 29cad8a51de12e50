"""Tests of connection pools: claims, races, backends."""
