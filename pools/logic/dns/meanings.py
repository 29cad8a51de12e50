"""Say in plain words what the error of a lookup means and what helps."""

MEANINGS = {
    "NXDOMAIN": "The name servers say that this name does not exist. Check how it is spelled,"
    " or add it to its zone.",
    "no records": "The name exists, but has no address and no SRV record.",
    "SERVFAIL": "The name server could not find an answer. The servers that it asks may be down.",
    "REFUSED": "The name server does not answer questions from this machine.",
    "no answer": "No name server answered in time. Check their addresses and the network.",
}


def meaning(error: str) -> str:
    """Return an empty text for an error that says enough itself."""
    lower = error.lower()
    return next((words for word, words in MEANINGS.items() if word.lower() in lower), "")
