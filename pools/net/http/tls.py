"""The settings that make one TLS client differ from another."""

import os
import ssl
from dataclasses import dataclass


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
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # it checks certificate and host name
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        if self.ciphers is not None:
            context.set_ciphers(self.ciphers)
        if not self.verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        self._trust(context)
        if self.cert_file is not None:
            context.load_cert_chain(self.cert_file, self.key_file, self.key_password)
        return context

    def _trust(self, context: ssl.SSLContext) -> None:
        if self.ca_certs is None:
            if self.verify:
                context.load_default_certs()
        elif os.path.isdir(self.ca_certs):
            context.load_verify_locations(capath=self.ca_certs)
        else:
            context.load_verify_locations(self.ca_certs)
