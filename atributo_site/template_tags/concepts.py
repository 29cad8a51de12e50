"""Help about a concept behind a "?": one sentence, and a link to the docs of this site."""

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

CONCEPTS = {
    "instance": "An instance is anything that can own keys: a worker, a host or a DNS target.",
    "key": "A key is a text that is allocated to one instance and stays there; a sticky job runs on"
    " the instance that its key is allocated to.",
    "curator": "The curator is the process that repairs what a crash leaves behind; one is active,"
    " the others stand by.",
    "epoch": "An epoch is a number that grows with every change of owner, so that a late writer"
    " with an old one is refused.",
    "mount": "A mount is the path at which a service is installed, such as /mailer.",
    "lease": "A lease is the right to act in a role until a certain time; its holder keeps renewing"
    " it.",
}


@register.simple_tag
def concept(name: str, *, bare: bool = False) -> SafeString:
    """Show "?" with the name of the concept; bare without it, for use beside the word itself."""
    return format_html(
        '<details class="concept"><summary title="What is this?"><span class="concept-mark"'
        ' aria-hidden="true">?</span><span{}>{}</span></summary>'
        '<span class="concept-text" role="note">{} <a href="{}#{}">Read more</a></span></details>',
        mark_safe(' class="hidden-label"') if bare else "",  # nosec B308 B703 # a constant
        f"What is {_article(name)} {name}?",
        CONCEPTS[name],
        reverse("atributo:docs-page", args=["concepts"]),
        name,
    )


def _article(name: str) -> str:
    return "an" if name[0] in "aeiou" else "a"
