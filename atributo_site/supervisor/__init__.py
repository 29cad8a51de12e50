"""The supervisor, which runs everything on one machine in the foreground."""
