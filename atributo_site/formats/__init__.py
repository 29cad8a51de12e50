"""How dates and numbers are written."""
