"""Tests in a real browser: errands, every action, accessibility."""
