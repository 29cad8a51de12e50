"""Measure ours beside the peers in one run: `make bench`, or `make bench ARGS=allocation`."""
