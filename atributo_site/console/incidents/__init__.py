"""The screens of incidents: what is wrong, what was wrong, and one of them."""
