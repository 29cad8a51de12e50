"""Tests of health, of what needs attention, and of the software that is reported."""
