"""What screens, REST and commands ask about queues and jobs; nothing here changes a row."""
