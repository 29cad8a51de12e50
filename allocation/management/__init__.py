"""Commands for instances, allocations, job ids, documents and transactions."""
