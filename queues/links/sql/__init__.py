"""The statements of batches and of jobs that wait for others."""
