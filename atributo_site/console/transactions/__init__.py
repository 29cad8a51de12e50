"""The screens of transactions and documents: lists, details, locks, curators, actions."""
