"""Repair what a crash left behind, remove what is old, and let operators end transactions."""
