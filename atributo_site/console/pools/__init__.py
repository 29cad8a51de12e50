"""The screens of pools: watched names, backends, live pools, the timeline, the look-up tool."""
