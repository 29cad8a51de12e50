"""Tests of queues, jobs, scripts and workers."""
