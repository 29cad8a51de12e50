"""Written by `python -m tests.clients.generate` from the OpenAPI document; change nothing here."""
