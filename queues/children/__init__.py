"""The processes in which scripts run, and what a worker and they say to each other."""
