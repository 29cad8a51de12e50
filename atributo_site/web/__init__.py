"""What pages outside the console share, too: middleware, log-in, errors, pagination, raw lists."""
