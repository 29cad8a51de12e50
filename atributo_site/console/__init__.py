"""The screens: one folder per section, each with the same file names; base holds what all share."""
