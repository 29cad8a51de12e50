"""A tag library with the same name as one of ours."""
