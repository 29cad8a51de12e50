"""Django's PostgreSQL backend, which replaces connections that are lost.

What is tried again, and how often, is decided in `atributo_site.core.retry`.
"""
