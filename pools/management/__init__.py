"""The commands of pools and DNS."""
