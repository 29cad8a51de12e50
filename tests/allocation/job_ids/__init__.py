"""Tests of job ids: unique, growing, and never given out twice."""
