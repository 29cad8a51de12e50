"""The terminal's door to instances, allocations, job ids, documents and transactions."""
