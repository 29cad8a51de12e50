"""Demo content: a small story in every room, made through the public APIs alone."""
