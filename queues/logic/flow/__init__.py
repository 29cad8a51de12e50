"""Flow control without Django: how attempts end, limits, and fair turns of keys."""
