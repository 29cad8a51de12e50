"""Tests of scripts that change documents, and of what is left when they fail."""
