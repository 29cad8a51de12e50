"""One thing that is wrong now, as the room that owns it says it."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from atributo_site.core.incidents.cure import Cure
from atributo_site.core.models.event import stored_subject


class Severity(StrEnum):
    """How bad it is, the worst first."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"  # somebody wanted it so, and others should know


RANKS = {severity.value: rank for rank, severity in enumerate(Severity)}
Key = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Symptom:
    """`kind` and `subject` stay the same for as long as it lasts; the other words may change."""

    kind: str
    subject: str  # such as queue:mail
    severity: str
    title: str
    detail: str = ""  # the reason
    command: str = ""  # the one safe thing to do, in a terminal
    cure: Cure | None = None  # and in the browser, where there is more to do than to look
    affected: str = ""  # such as 12 jobs
    since: datetime | None = None  # None: nobody knows, so it began when it was noticed
    is_cut: bool = False  # there may be more of this kind than are listed

    @property
    def key(self) -> Key:
        return self.kind, stored_subject(self.subject)
