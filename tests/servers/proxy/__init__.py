"""A link that a test can delay or cut."""
