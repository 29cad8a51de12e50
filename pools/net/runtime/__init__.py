"""What drives pools and resolvers: threads, timers, events, the monitor."""
