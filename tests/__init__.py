"""The tests, in the tree of the product; real databases, servers and processes are in `servers`."""
