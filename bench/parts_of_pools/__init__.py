"""One contestant per file; each prints its figures as one line of JSON and ends."""
