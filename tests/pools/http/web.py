"""A small web server for tests that counts and answers what it is given."""

import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CERTIFICATE = Path(__file__).parents[2] / "data" / "svc.example.pem"


class Web:
    """Answer with `status` and `body`; answer nothing while `hang` is set."""

    def __init__(self, tls=False):
        self.status = 200
        self.body = b"hello"
        self.hang = False
        self.keeps = True
        self.requests = []
        self.sni = []
        self.ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None
        if tls:
            self._wrap()
        self.port = self._server.server_port

    def _wrap(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE)
        context.sni_callback = lambda _, name, __: self.sni.append(name)
        self._server.get_request = lambda: self._accept(context)

    def _accept(self, context):
        """Shake hands in the connection's own thread: a silent client delays no other."""
        plain, address = self._server.socket.accept()
        try:
            plain.getpeername()
        except OSError:  # gone already; wrapped, it would stay open
            plain.close()
            raise
        wrapped = context.wrap_socket(plain, server_side=True, do_handshake_on_connect=False)
        return wrapped, address

    def _handler(web):  # noqa: N805
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def do_GET(self):
                web.requests.append((self.command, self.path, self.headers["Host"]))
                if web.hang:
                    web.ended.wait()
                    self.close_connection = True
                    return
                self.send_response(web.status)
                self.send_header("Content-Length", str(len(web.body)))
                if not web.keeps:
                    self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(web.body)

            def do_POST(self):
                web.body = self.rfile.read(int(self.headers["Content-Length"]))
                self.do_GET()

            do_PUT = do_POST

            def finish(self):
                try:
                    super().finish()
                finally:
                    self.rfile.close()  # also if the last bytes could not be sent

            def log_message(self, *_):
                pass

        return Handler

    def __enter__(self):
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()

    def url(self, path="/", host="127.0.0.1"):
        return f"http://{host}:{self.port}{path}"

    def paths(self):
        return [path for _, path, _ in self.requests]
