"""A service that is set up and torn down."""
