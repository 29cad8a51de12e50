"""The state of the whole site: health, metrics, what needs attention, what is stored."""
