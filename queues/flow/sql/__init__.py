"""The statements of flow control."""
