"""A transaction's life: begin, operate, complete, roll back."""
