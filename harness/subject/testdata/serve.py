"""A subject that works: every GET answers 200, /die ends the process with status 7."""
import os
import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if self.path == "/die":
            print("told to die", flush=True)
            os._exit(7)
        body = ("pid %d" % os.getpid()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def serve(listen):
    host, port = listen.rsplit(":", 1)
    server = ThreadingHTTPServer((host.strip("[]"), int(port)), Handler)
    print("listening on " + listen, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    for variable in sys.argv[2:]:
        print(variable + "=" + os.environ.get(variable, ""), flush=True)
    serve(sys.argv[1])
