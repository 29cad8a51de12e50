"""The screens of one schedule: its page, its form, and what its buttons do."""
