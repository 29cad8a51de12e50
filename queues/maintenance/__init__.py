"""What the curator does for queues: recover lost runs, delete old rows, move jobs, check rules."""
