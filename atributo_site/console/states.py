"""One tone and one icon for each word that says how something is; never colour alone."""

TONES = {
    "ok": "ok alive active available running complete completed done ready up held",
    "busy": "progress starting connecting working draining restarting aborting rolling_back",
    "warn": "warning degraded silent late stale retrying delayed",
    "bad": "error failed dead down lost missing expired critical stuck",
    "info": "info notice",
    "idle": "pending standby idle stopped paused free unavailable unknown removed none rolled_back",
}
TONE_OF = {word: tone for tone, words in TONES.items() for word in words.split()}


def tone(word: str) -> str:
    """The tone of a state word; a word nobody knows is shown plainly."""
    return TONE_OF.get(word.lower(), "idle")
