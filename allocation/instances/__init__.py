"""Register instances, make them available or not, and tell what still holds one.

The instance of a key is chosen in placement.
"""
