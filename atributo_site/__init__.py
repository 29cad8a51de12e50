"""Hold the site around the rooms: settings, screens, REST, supervisor, and in core the kernel."""
