"""Where job ids go and why: allocating, moving, draining, rebalancing, explaining.

How it is stored is in storage.
"""
