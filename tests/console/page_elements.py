"""Parse a page into its elements and attributes."""

import re
from html.parser import HTMLParser

INJECTION = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'><b id=injected>"


class Elements(HTMLParser):
    """The elements and attributes of a page as a browser sees them."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.handlers, self.images = set(), [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        names = dict(attrs)
        self.ids.add(names.get("id"))
        self.handlers += [name for name in names if name.startswith("on")]
        self.images += [names.get("src")] if tag == "img" else []


def ids_on(response):
    return {
        int(found) for found in re.findall(r'class="job-id" href="/jobs/(\d+)/"', response.text)
    }
