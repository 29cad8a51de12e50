"""Files that tests put into pages, and what examines a page with them."""
