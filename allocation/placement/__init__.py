"""Choose the instances of job ids: allocate, move, drain, rebalance, explain.

The statements that store placements are in storage.
"""
