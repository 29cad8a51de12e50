"""Workers that choose among queues or run many jobs at once, and how RQ sees them."""
