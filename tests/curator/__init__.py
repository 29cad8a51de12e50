"""Tests of the process that repairs: who leads, and how often it looks."""
