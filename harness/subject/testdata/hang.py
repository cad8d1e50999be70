"""Starts, says one line and never listens."""
import signal

print("warming up", flush=True)
while True:
    signal.pause()
