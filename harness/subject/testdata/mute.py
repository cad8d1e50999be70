"""Accepts connections and never answers; reads what comes."""
import socket
import sys

host, port = sys.argv[1].rsplit(":", 1)
listener = socket.create_server((host, int(port)), backlog=128)
held = []
while True:
    held.append(listener.accept())
