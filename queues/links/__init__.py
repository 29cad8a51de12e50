"""What waits for what: jobs for the end of other jobs, and batches for the end of their jobs."""
