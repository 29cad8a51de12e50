"""The SQL of documents and transactions, the keys it works on, and why it may refuse."""
