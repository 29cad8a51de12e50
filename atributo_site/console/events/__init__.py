"""The screens of events: the timeline and how it folds many events into rows."""
