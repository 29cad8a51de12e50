"""The document store as its clients see it: read, write, patch, search, history, relations,
events.
"""
