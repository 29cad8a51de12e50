"""The measured statements of this room."""
