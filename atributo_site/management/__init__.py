"""The terminal's door to the site itself."""
