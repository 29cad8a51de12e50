"""The screens of allocations: the list, one key, the map, rebalancing."""
