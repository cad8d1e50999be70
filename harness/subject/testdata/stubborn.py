"""Serves, and ignores SIGTERM."""
import signal
import sys

from serve import serve

signal.signal(signal.SIGTERM, signal.SIG_IGN)
serve(sys.argv[1])
