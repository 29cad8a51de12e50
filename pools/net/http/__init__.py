"""HTTP agents over the connection pool."""
