"""Which of the captured statements a test counts."""


def about_queues(asked):
    """Leave out those for the job's id, which the process needs now and then.

    They read the clock by a prepared statement, but that one has no arguments.
    """
    texts = [each["sql"] for each in asked.captured_queries]
    return [text for text in texts if "queues_" in text or is_prepared_with_arguments(text)]


def is_prepared_with_arguments(text):
    return "EXECUTE atributo_" in text and "(" in text
