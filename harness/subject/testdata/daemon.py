"""Goes into the background at once, as daemons do, and serves there."""
import os
import sys

from serve import serve

gone, held = os.pipe()
child = os.fork()
if child:
    with open(sys.argv[2], "w") as f:
        f.write("%d\n" % child)
    os._exit(0)
os.setsid()
# Serve once the command has returned: before that it is not in the background.
os.close(held)
os.read(gone, 1)
serve(sys.argv[1])
