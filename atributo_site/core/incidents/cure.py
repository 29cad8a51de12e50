"""The one safe thing that helps, as the room that reports a symptom names it."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cure:
    """`does` is a verb of the site, such as queue.resume; the site knows the address of each."""

    does: str
    label: str  # the words of the button
    preview: str  # what happens if it is pressed
    name: str = ""  # of the object that it is done to
    values: dict[str, str] = field(default_factory=dict)  # sent with it

    def stored(self) -> dict[str, Any]:
        """Return it as JSON without NUL, which PostgreSQL does not store."""
        words = {"does": self.does, "label": self.label, "preview": self.preview, "name": self.name}
        clean = {key: text.replace("\x00", "") for key, text in words.items()}
        return {**clean, "values": self.values}
