"""The five walks of docs/architecture.md, from end to end."""
