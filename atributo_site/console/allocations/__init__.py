"""The screens of allocations: the list, one job id, the map, rebalancing."""
