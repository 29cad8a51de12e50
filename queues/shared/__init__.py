"""Many jobs of one queue in one process: `async def` scripts, and scripts that allow threads."""
