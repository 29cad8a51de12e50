"""Tests of the kernel: database layer, events, leases, loops, redaction."""
