"""The settings that make one TLS client differ from another."""

import os
import ssl
from dataclasses import dataclass

from urllib3.util.ssl_ import create_urllib3_context


@dataclass(frozen=True, slots=True)
class Tls:
    """Connections with different settings never share a pool; `ca_certs` is a file or a folder."""

    verify: bool = True
    ca_certs: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    key_password: str | None = None
    server_hostname: str | None = None
    ciphers: str | None = None
    context: ssl.SSLContext | None = None

    def make_context(self) -> ssl.SSLContext:
        if self.context is not None:
            return self.context
        required = ssl.CERT_REQUIRED if self.verify else ssl.CERT_NONE
        context = create_urllib3_context(cert_reqs=required, ciphers=self.ciphers)
        if self.verify and self.ca_certs is None:
            context.load_default_certs()
        elif self.ca_certs is not None and os.path.isdir(self.ca_certs):
            context.load_verify_locations(capath=self.ca_certs)
        elif self.ca_certs is not None:
            context.load_verify_locations(self.ca_certs)
        if self.cert_file is not None:
            context.load_cert_chain(self.cert_file, self.key_file, self.key_password)
        return context
