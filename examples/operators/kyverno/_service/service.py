"""What stands for the Service kyverno-svc, since a cluster of processes has none: it forwards the connections of the
API server to the replicas of Kyverno that are ready.

    service.py LISTEN STATUS REPLICA...     ports on 127.0.0.1

As a kubelet does, it asks each replica's readiness probe, /health/readiness. A replica is ready when the probe has
succeeded for a second, or succeeds at the start, and no longer when it fails. http://127.0.0.1:STATUS/ answers 200, and
http://127.0.0.1:STATUS/REPLICA answers 200 while that replica is ready.

The environment variable CALLS changes how connections are treated:
    away    nobody listens: the connection is refused
    3s      each answer comes three seconds late
"""
import http.client
import http.server
import os
import queue
import random
import socket
import ssl
import sys
import threading
import time

HOST = "127.0.0.1"
LISTEN, STATUS, *REPLICAS = (int(port) for port in sys.argv[1:])
CALLS = os.environ.get("CALLS", "")
DELAY = float(CALLS.removesuffix("s")) if CALLS.endswith("s") else 0.0
SETTLED, PERIOD = 1.0, 0.25

ready = {}


def succeeds(port):
    """Whether a replica's readiness probe succeeds. A probe trusts any certificate."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    replica = http.client.HTTPSConnection(HOST, port, timeout=5, context=context)
    try:
        replica.request("GET", "/health/readiness")
        return replica.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        replica.close()


def watch(port):
    """Keeps ready up to date for one replica."""
    since = float("-inf") if ready[port] else None
    while True:
        time.sleep(PERIOD)
        since = (since or time.monotonic()) if succeeds(port) else None
        ready[port] = since is not None and time.monotonic() - since >= SETTLED


def connect():
    """A connection to a replica that is ready, or None."""
    for port in random.sample(REPLICAS, len(REPLICAS)):
        if ready.get(port):
            try:
                return socket.create_connection((HOST, port))
            except OSError:
                ready[port] = False
    return None


class Link:
    """A forwarded connection. A delay begins after the handshake: with the client's second message."""

    def __init__(self, client, server):
        self.client, self.server, self.asked = client, server, 0
        self.answers = queue.SimpleQueue()
        for connection in (client, server):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for work in (self.ask, self.answer, self.send):
            threading.Thread(target=work, daemon=True).start()

    def ask(self):
        while data := receive(self.client):
            self.asked += 1
            if not pushed(self.server, data):
                break
        self.close()

    def answer(self):
        while data := receive(self.server):
            self.answers.put((time.monotonic() + (DELAY if self.asked > 1 else 0), data))
        self.answers.put((0, b""))

    def send(self):
        while True:
            due, data = self.answers.get()
            if not data:
                break
            time.sleep(max(0, due - time.monotonic()))
            if not pushed(self.client, data):
                break
        self.close()

    def close(self):
        for connection in (self.client, self.server):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()


def receive(connection):
    try:
        return connection.recv(1 << 16)
    except OSError:
        return b""


def pushed(connection, data):
    try:
        connection.sendall(data)
        return True
    except OSError:
        return False


class Status(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        port = self.path.strip("/")
        self.send_response(200 if not port or ready.get(int(port)) else 503)
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    for port in REPLICAS:
        ready[port] = succeeds(port)
        threading.Thread(target=watch, args=(port,), daemon=True).start()
    status = http.server.ThreadingHTTPServer((HOST, STATUS), Status)
    if CALLS == "away":
        status.serve_forever()
    listener = socket.create_server((HOST, LISTEN), backlog=64)
    threading.Thread(target=status.serve_forever, daemon=True).start()
    while True:
        client, _ = listener.accept()
        if server := connect():
            Link(client, server)
        else:
            client.close()


main()
