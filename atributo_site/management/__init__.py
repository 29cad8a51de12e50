"""The commands of the site itself."""
