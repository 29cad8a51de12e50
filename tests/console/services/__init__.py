"""Tests of the screens of services and their scripts."""
