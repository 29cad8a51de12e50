"""One port for pages, REST and the event stream."""
