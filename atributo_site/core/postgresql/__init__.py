"""Django's PostgreSQL, with connections that are replaced when they are lost.

Not here: what is done again and how often, which is `core.retry`.
"""
