"""The screens of the system: health, integrity, processes, operations, settings, tokens."""
