"""Repairing what a crash left behind: expired transactions, orphaned locks, old versions; what
operators may end by hand.
"""
