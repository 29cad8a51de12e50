"""Every door leaves an event: REST, screens and commands, each listed once."""
