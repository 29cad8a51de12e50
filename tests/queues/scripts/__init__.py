"""What a script finds around it: modules beside it, its options, the mode it runs in."""
