"""Serves, and keeps a family: a child, a grandchild in a session of its own, an
orphan of a double fork with a cleared environment, and one whose output goes
nowhere. Their ids are written to the file in argv[2], one a line."""
import os
import signal
import sys

from serve import serve

ids = sys.argv[2]


def write():
    with open(ids, "a") as f:
        f.write("%d\n" % os.getpid())


def wait():
    signal.signal(signal.SIGTERM, signal.SIG_IGN if "--stubborn" in sys.argv else signal.SIG_DFL)
    write()
    while True:
        signal.pause()


if os.fork() == 0:  # a child
    if os.fork() == 0:  # its child, in a session of its own
        os.setsid()
        wait()
    wait()
if os.fork() == 0:  # orphaned, other session, empty environment
    os.setsid()
    if os.fork() == 0:
        write()
        os.execve("/bin/sh", ["sh", "-c", "while :; do sleep 1000; done"], {"PATH": os.environ["PATH"]})
    os._exit(0)
if os.fork() == 0:  # orphaned, other session, no output of ours
    os.setsid()
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        wait()
    os._exit(0)
write()
serve(sys.argv[1])
