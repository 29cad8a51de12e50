"""Services for the tests; some are broken on purpose."""
