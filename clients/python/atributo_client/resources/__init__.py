"""The groups of operations, by room: each method says which requests it makes."""
