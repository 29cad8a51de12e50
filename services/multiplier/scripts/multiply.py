"""Multiply two numbers; a list of arguments is spread, so they are two arguments."""


def run(context):
    assert len(context.argv) == 2, "Expected exactly two arguments"
    first, second = context.argv
    assert isinstance(first, int | float), "Expected first argument to be a number"
    assert isinstance(second, int | float), "Expected second argument to be a number"
    return first * second
