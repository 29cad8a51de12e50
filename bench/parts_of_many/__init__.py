"""The jobs of `bench.many_at_once`, and how each contestant pushes and runs them."""
