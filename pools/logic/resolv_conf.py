"""The nameservers of /etc/resolv.conf."""

from pools.logic.backends import is_address


def nameservers_of(text: str) -> list[str]:
    """Addresses after the word `nameserver`; comments, options and search lists do not matter."""
    found = []
    for line in text.splitlines():
        words = line.replace(";", "#").partition("#")[0].split()
        if len(words) >= 2 and words[0] == "nameserver" and is_address(words[1]):
            found.append(words[1])
    return list(dict.fromkeys(found))
