"""REST views of documents, transactions, locks and curators."""
