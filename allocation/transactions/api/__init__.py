"""The REST doors of documents, transactions, locks and curators."""
