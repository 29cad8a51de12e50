"""The worker process: it answers bells, runs the jobs of a slot in a child process and watches
them.
"""
