"""The worker process: it answers bells, and runs the jobs of a slot in a child process."""
