"""Tests of the recipes in deploy/: what they name exists, and what they say works."""
