"""The kernel of every room: errors, events, leases, retry, the database layer.

It imports no other package of ours.
"""
