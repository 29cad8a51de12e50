"""A script's run inside its process: loading it, its context, its transaction."""
