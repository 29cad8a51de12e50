"""Register instances, make them available or not, and tell what still holds one.

The instance of a job id is chosen in placement.
"""
