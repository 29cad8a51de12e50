"""One supervisor in the foreground that runs everything on one machine."""
