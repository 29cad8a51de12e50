"""Put a bounded load on this installation and measure what it can do."""
