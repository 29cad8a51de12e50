"""The connection pools, blocking and asyncio."""
