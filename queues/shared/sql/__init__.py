"""The statements about many slots and jobs at once."""
