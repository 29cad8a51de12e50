"""The screens of batches: a list, the page of one, and what its buttons do."""
