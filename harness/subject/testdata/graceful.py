"""Serves; on SIGTERM takes a moment to finish, says goodbye and leaves."""
import os
import signal
import sys
import threading

from serve import serve


def leave(*_):
    def finish():
        print("goodbye", flush=True)
        os._exit(0)

    threading.Timer(0.3, finish).start()


signal.signal(signal.SIGTERM, leave)
serve(sys.argv[1])
