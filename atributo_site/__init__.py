"""Hold the site around the rooms: settings, screens, REST, supervisor, and in core the kernel."""

__version__ = "0.1.0"
