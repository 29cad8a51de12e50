"""One tone and one icon for each word that says how something is; never colour alone."""

TONES = {
    "ok": "ok alive active available running complete done ready up held present added returned"
    " fresh settled completed fine",
    "busy": "progress starting connecting working draining restarting aborting drain maintenance"
    " administered rolling_back",
    "warn": "warning degraded silent late stale retrying kept gone aborted released",
    "bad": "error failed dead down lost missing expired critical refused stuck orphaned overdue"
    " very_late",
    "info": "info notice",
    "idle": "pending waiting delayed standby idle stopped paused free unavailable unknown removed"
    " none",
}
TONE_OF = {word: tone for tone, words in TONES.items() for word in words.split()}


def tone(word: str) -> str:
    """The tone of a state word; a word nobody knows is shown plainly."""
    return TONE_OF.get(word.lower().replace(" ", "_"), "idle")
