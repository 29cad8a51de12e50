"""Settings from the environment: names, defaults, checks and conflicts; and the state folder."""
