"""Flow control as values: limits, and the fair turns of keys."""
