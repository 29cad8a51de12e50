"""Tags and filters of the transactions and documents screens."""

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from allocation.transactions.models import Document, Transaction
from atributo_site.console.base.navigation import address
from atributo_site.console.transactions.detail import Life
from atributo_site.web.format import duration

register = template.Library()


@register.filter
def words(name: str) -> str:
    """Return a name such as `rolled_back` with spaces."""
    return name.replace("_", " ")


@register.simple_tag
def ran(row: Transaction) -> str:
    """Return how long a finished transaction was open."""
    return duration((row.finished_at - row.started_at).total_seconds() if row.finished_at else None)


@register.simple_tag
def owner(name: str) -> str:
    """Return the owner of a transaction; of an attempt at a queued job, a link to the job."""
    noun, _, key = name.partition(":")
    link = address("job", key) if noun == "job" and key else None
    return format_html('<a href="{}">job {}</a>', link, key) if link else name or "nobody"


@register.simple_tag
def life_bar(life: Life) -> SafeString:
    """Draw the time that is left as a bar and words."""
    return format_html(
        '<span class="life is-{}"><svg class="bar is-{}" aria-hidden="true">'
        '<rect width="{}%"/></svg><span>{}</span></span>',
        life.tone,
        life.tone,
        life.percent,
        life.words,
    )


@register.simple_tag
def document_link(document: Document | str) -> SafeString:
    """Link collection/key to the document; a damaged journal may name one that there is not."""
    if not isinstance(document, Document):
        return format_html('<span class="muted">{}</span>', "no document")
    return format_html(
        '<a class="subject" href="{}"><span class="in">{}/</span>{}</a>',
        address("document", document.collection, document.key),
        document.collection,
        document.key,
    )
