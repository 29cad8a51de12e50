"""Properties of the functions without a network: guards, recovery, timers."""
