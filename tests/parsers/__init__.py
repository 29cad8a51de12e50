"""Every parser of what somebody else wrote takes steps in proportion to the text."""
