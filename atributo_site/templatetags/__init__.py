"""Template tags and filters of the screens."""
