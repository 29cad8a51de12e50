"""Properties of the functions without a database: choosing, drains, ids."""
