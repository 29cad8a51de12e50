"""Tests of pushing jobs and of changing them afterwards."""
