"""Read the event stream in a thread, as a browser's EventSource does."""

import json
import socket
import threading

import httpx

from tests.servers import patient_http


class Listening:
    """`frames` grows while the stream is open; `ended` is set when the server closed it."""

    def __init__(self, url, headers=None, verify=True, **parameters):
        self.frames = []
        self.comments = 0
        self.ended = threading.Event()
        self._opened = threading.Event()
        self._client = patient_http.Client(headers=headers, verify=verify)
        self._arguments = (url, parameters)
        self.status = None
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self._thread.start()
        assert self._opened.wait(60), "the stream did not open"
        assert self.status == 200
        return self

    def __exit__(self, *exception):
        if not self.ended.is_set():
            stream = self._response.extensions["network_stream"]
            stream.get_extra_info("socket").shutdown(socket.SHUT_RDWR)  # wakes the reading thread
        self._thread.join(60)
        self._client.close()

    def data(self):
        """Return the events, without what the stream says about itself."""
        return [f["data"] for f in self.frames if "data" in f and "event" not in f]

    def subjects(self):
        return [data["subject"] for data in self.data()]

    def said(self):
        return [frame["event"] for frame in self.frames if "event" in frame]

    def last_id(self):
        ids = [frame["id"] for frame in self.frames if "id" in frame]
        return ids[-1] if ids else None

    def _read(self):
        url, parameters = self._arguments
        try:
            with self._client.stream("GET", url, params=parameters) as self._response:
                self.status = self._response.status_code
                self._collect(self._response)
        except (httpx.HTTPError, httpx.StreamError, RuntimeError, OSError):
            pass  # closed by the test, or because the server died
        self._opened.set()
        self.ended.set()

    def _collect(self, response):
        frame = {}
        for line in response.iter_lines():
            if line:
                self._take(frame, line)
                continue
            self.frames.append(frame)
            self._opened.set()
            frame = {}

    def _take(self, frame, line):
        name, _, value = line.partition(":")
        if not name:
            self.comments += 1
            return
        frame[name] = json.loads(value) if name == "data" else value.strip()
