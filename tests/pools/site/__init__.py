"""Tests of what the curator does with pools: watching, instances, reports."""
