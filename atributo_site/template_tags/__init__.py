"""Template tags and filters of the screens; our engines name them, so no project sees them."""
