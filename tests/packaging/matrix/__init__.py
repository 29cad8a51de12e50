"""`make matrix`: the wheel with each Django and each Python that it is meant for."""
