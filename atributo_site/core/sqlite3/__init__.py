"""Django's SQLite backend, whose writers wait in line and for as long as they may, not longer."""
