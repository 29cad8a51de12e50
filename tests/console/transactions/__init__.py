"""Tests of the screens of transactions, locks and documents."""
