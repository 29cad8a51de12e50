"""The screens of services: the list, one service, its scripts and how they are run."""
