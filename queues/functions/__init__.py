"""Declared functions: which there are, what they take, how they are called and shown."""
