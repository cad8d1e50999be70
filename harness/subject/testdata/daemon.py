"""Goes into the background at once, as daemons do, and serves there."""
import os
import sys

from serve import serve

child = os.fork()
if child:
    with open(sys.argv[2], "w") as f:
        f.write("%d\n" % child)
    os._exit(0)
os.setsid()
serve(sys.argv[1])
