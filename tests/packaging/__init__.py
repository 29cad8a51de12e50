"""The package as others get it: built from this checkout, installed, and used from elsewhere."""
