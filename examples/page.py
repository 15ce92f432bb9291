"""A page to try the Browser provider on: `python -m examples.page --port 0` prints its URL."""

import argparse
import html
import os
import secrets
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final
from urllib.parse import parse_qs, urlsplit

#: The environment variable that holds the password that the page lets in: argv is for everyone to read.
PASSWORD_VARIABLE = "EXAMPLE_PAGE_PASSWORD"
#: Bytes of a form that are read.
FORM_LIMIT: Final = 4096

FRAME = """<!doctype html><meta charset="utf-8"><title>{title}</title>
<style>body {{ font: 16px sans-serif; margin: 3em }} input, button {{ font: inherit }}
#banner {{ position: fixed; bottom: 0; left: 0; right: 0; padding: 1em; background: #eee }}</style>
<h1>{title}</h1>{body}"""
SIGN_IN = """<form method="post" action="/sign-in">
<p><label>Name <input id="name" name="name" autocomplete="off"></label></p>
<p><label>Password <input id="password" name="password" type="password"></label></p>
<p><button>Sign in</button></p><p id="error">{error}</p></form>
<div id="banner">This desk bakes no cookies that you could refuse.
<button onclick="this.parentNode.remove()">Fine</button></div>"""
TICKETS = """<p id="who">Signed in as {name}</p><ul><li>Refund for order 7</li><li>Broken hinge</li></ul>
<p><a id="out" href="/">Sign out</a></p>"""


class Desk(ThreadingHTTPServer):
    """Serves a sign-in form, and a list of tickets to whoever knows the password."""

    daemon_threads = True

    def __init__(self, port: int, password: str) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.password = password
        self.sessions: dict[str, str] = {}


class Handler(BaseHTTPRequestHandler):
    """Three pages: the form, what takes it, and the tickets."""

    server: Desk

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        name = self.server.sessions.get(self.headers.get("Cookie", "").partition("session=")[2])
        if path == "/":
            self.show("Sign in", SIGN_IN.format(error=""))
        elif path == "/tickets" and name is not None:
            self.show("Tickets", TICKETS.format(name=html.escape(name)))
        else:
            self.show("Not found", "<p>Nothing is here.</p>", status=404)

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(min(int(self.headers.get("Content-Length", 0)), FORM_LIMIT)).decode())
        given = form.get("password", [""])[0]
        if not secrets.compare_digest(given.encode(), self.server.password.encode()):
            self.show("Sign in", SIGN_IN.format(error="That is not the password."))
            return
        session = secrets.token_urlsafe(16)
        self.server.sessions[session] = form.get("name", [""])[0]
        self.send_response(303)
        self.send_header("Location", "/tickets")
        self.send_header("Set-Cookie", f"session={session}; HttpOnly; SameSite=Strict")
        self.end_headers()

    def show(self, title: str, body: str, status: int = 200) -> None:
        page = FRAME.format(title=title, body=body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Print nothing."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m examples.page", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    options = parser.parse_args()
    password = os.environ.get(PASSWORD_VARIABLE)
    if not password:
        parser.error(f"the page needs a password in {PASSWORD_VARIABLE}")
    with Desk(options.port, password) as desk:
        print(f"http://127.0.0.1:{desk.server_port}", flush=True)
        desk.serve_forever()


if __name__ == "__main__":
    main()
