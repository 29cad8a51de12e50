"""What somebody else runs by django-rq in the same project."""


def add(a, b):
    return a + b
