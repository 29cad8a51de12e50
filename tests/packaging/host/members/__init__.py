"""An app of a project that includes ours, with a model and tasks of its own."""
