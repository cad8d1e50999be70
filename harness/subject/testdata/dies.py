"""Dies at start with a reason on standard error."""
import sys

for i in range(30):
    print("step %d" % i)
print("cannot load the configuration: \x1b[31mno such table\x1b[0m", file=sys.stderr)
sys.exit(3)
