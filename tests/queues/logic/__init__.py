"""Properties of the functions without a database: lifecycle, back-off, patterns."""
