"""Let other HTTP libraries use an agent's pools; each module needs the library of its name."""
