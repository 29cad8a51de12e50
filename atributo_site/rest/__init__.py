"""What every REST endpoint shares: authentication, pages, problems, idempotency, OpenAPI."""
