"""When a schedule runs: cron texts, intervals, calendars and moments, exact in any time zone."""
