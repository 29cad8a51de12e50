"""What is or was wrong, kept as rows: the active curator opens and resolves them."""
