"""Tests of what all pages share: access, addresses of clients, error pages."""
