"""Begin a transaction, operate in it, complete it or roll it back."""
