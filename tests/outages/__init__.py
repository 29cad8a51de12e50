"""Servers that are away, read-only, locked or out of disk, and what the site does meanwhile."""
