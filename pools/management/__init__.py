"""The terminal's door to pools and DNS."""
