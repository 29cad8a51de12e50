"""Sockets, threads and event loops around the decisions of pools.logic."""
