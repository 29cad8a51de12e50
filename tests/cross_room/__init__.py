"""Tests of several rooms together, mostly in processes of their own."""
