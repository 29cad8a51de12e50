"""Tests against name servers and web servers that others wrote."""
