"""A bounded load on this installation: what it can do, measured where it runs."""
