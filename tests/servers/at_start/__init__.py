"""What a process of the tests runs before its program."""
