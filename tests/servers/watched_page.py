"""Remember everything that goes wrong on a browser page."""

from urllib.parse import urlsplit

# The console does not report every violation of the policy; the page's scripts see them all.
LISTEN_FOR_VIOLATIONS = """
addEventListener("securitypolicyviolation", event => atributoViolation(
    `${event.violatedDirective} forbids ${event.blockedURI} (line ${event.lineNumber})`
));
"""


class WatchedPage:
    def __init__(self, page, host):
        self.page = page
        self.troubles = page.troubles = []
        self._host = host
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self._note("script error", error))
        page.on("request", self._see)
        page.expose_function("atributoViolation", lambda text: self._note("policy", text))
        page.add_init_script(LISTEN_FOR_VIOLATIONS)

    def close(self):
        self.page.context.close()

    def _hear(self, message):
        if message.type == "error":
            self._note("console", f"{message.text} ({message.location.get('url')})")

    def _see(self, request):
        url = urlsplit(request.url)
        if url.scheme not in ("data", "blob", "about") and url.netloc != self._host:
            self._note("another host", request.url)

    def _note(self, kind, what):
        self.troubles.append(f"{self.page.url}: {kind}: {what}")
