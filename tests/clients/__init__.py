"""The client of other programs, against real sites."""
