"""How the whole is doing: health, metrics, what needs attention, what is stored."""
