"""The screens: a folder per section with the same file names, and base, which they share."""
