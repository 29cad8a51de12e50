"""The docs as pages of the console, for everybody who may look at it."""
