"""Settings from the environment: their names, defaults, checks and conflicts, and the folder for
state.
"""
