"""The statements underneath: keys, locks, refusals and the SQL that runs as one script."""
