"""Tests of `manage.py up`: what it starts, restarts and prepares."""
