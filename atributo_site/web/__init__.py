"""What pages share beside the console: middleware, log-in, error pages, pagination, raw lists."""
