"""Whether the database can be used: how long a call waits for it, and what is said of it."""
