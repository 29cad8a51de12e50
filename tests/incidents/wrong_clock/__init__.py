"""What a process on a machine with a wrong clock runs before its program."""
