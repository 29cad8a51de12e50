"""Demo content: a small story in every room, told through the public APIs alone."""
