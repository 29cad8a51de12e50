"""Tests of the loop that pools run in: callbacks, forks, pools that are dropped."""
