"""Tests of health, settings, tokens and users on screens."""
