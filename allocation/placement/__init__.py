"""Choose the instances of keys: allocate, move, drain, rebalance, explain.

The statements that store placements are in storage.
"""
