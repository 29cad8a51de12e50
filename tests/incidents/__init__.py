"""Tests of incidents: rows, reasons, doors."""
