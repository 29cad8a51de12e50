"""A service whose scripts do what their data says."""
