"""The active curator: it runs every room's repairs and checks every room's rules."""
