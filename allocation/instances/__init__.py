"""Instances as a set: registering, availability, what still holds an instance back.

Where a job id goes is decided in placement.
"""
