"""The kernel that every room stands on: errors, events, leases, retry, the database layer.

It imports nothing of ours.
"""
