"""Flow control: which of the waiting jobs may start now, by their expiry, limits and flow keys."""
