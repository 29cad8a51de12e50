"""Where our pages lie: the prefix of their addresses, and the engine of their templates."""
