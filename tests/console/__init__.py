"""Tests of the screens, in the sections of the console."""
