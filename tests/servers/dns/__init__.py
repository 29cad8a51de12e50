"""A name server that answers as a test says, also wrongly."""
