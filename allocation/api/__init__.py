"""REST views of instances, allocations and job ids: they parse, call the operations and answer."""
