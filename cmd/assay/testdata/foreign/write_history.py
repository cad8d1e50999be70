"""Write a concurrent history without Assay: a toy log in memory, driven by threads.

Standard library only. It follows docs/history-format.md and nothing else, so that
it keeps the page honest. Usage: write_history.py FILE [sound|prefix-hole|lost-write]
"""

import hashlib
import json
import random
import sys
import threading
import time

TOPIC = "01" + hashlib.sha256(b"a welcome topic").hexdigest()
LIMITS = {"default_query_limit": 100, "max_query_limit": 1000, "max_query_topics": 1000, "max_publish_topics": 1000,
          "max_envelope_bytes": 1048576, "max_request_bytes": 26214400, "max_response_bytes": 26214400, "welcome_seconds": 7776000}


class Recorder:
    """Numbers events in the order in which they happened."""

    def __init__(self):
        self.lock, self.events, self.calls, self.begun = threading.Lock(), [], 0, time.monotonic_ns()

    def add(self, phase, value, actor=None, call=None):
        with self.lock:
            if phase == "invoke":
                self.calls += 1
                call = self.calls
            event = {"index": len(self.events), "phase": phase, "at_ns": time.monotonic_ns() - self.begun, "value": value}
            if actor is not None:
                event.update(actor=actor, call=call)
            self.events.append(event)
            return call

    def save(self, path):
        with open(path, "w", encoding="utf-8") as f:
            header = {"format": "assay.history/v1", "suite": "backend", "seed": 1, "subject": "a log in Python"}
            for line in [header] + self.events:
                f.write(json.dumps(line, separators=(",", ":")) + "\n")


class Log:
    """The subject. Its fault, if any, is what the judge is to find."""

    def __init__(self, fault):
        self.lock, self.rows, self.next, self.fault = threading.Lock(), [], 1, fault

    def append(self, identity):
        with self.lock:
            for row in self.rows:
                if row["identity"] == identity:
                    return row["meta"]
            now = time.time_ns() // 1000 * 1000
            meta = {"has_cursor": True, "sequence": self.next, "server_ns": now, "has_hash": True,
                    "hash": hashlib.sha256(identity.encode()).hexdigest(), "has_topic": True, "topic": TOPIC,
                    "expiry_ns": now + 7776000 * 10**9, "commit_or_proposal": False}
            self.next += random.Random(self.next).randint(1, 3)  # gaps mean nothing
            if not (self.fault == "lost-write" and len(self.rows) == 20):
                self.rows.append({"has_meta": True, "meta": meta, "has_envelope": True, "identity": identity})
            return meta

    def read(self, after):
        with self.lock:
            rows = [r for r in self.rows if r["meta"]["sequence"] > after]
        if self.fault == "prefix-hole" and len(rows) > 8:
            del rows[3]
        return rows[:100], len(rows) > 100


def client(name, log, recorder):
    """Publishes, sends some envelopes again, and reads from where it is."""
    dice, cursor, sent = random.Random(name), 0, []
    for n in range(25):
        if dice.random() < 0.6:
            content = dice.choice(sent) if sent and dice.random() < 0.3 else f"{name}.{n}"
            sent.append(content)
            identity = hashlib.sha256(content.encode()).hexdigest()
            envelope = {"intent": {"log": {"kind": 2, "name": "w"}, "content": content},
                        "artefact": {"topic": TOPIC, "identity": identity, "wire_len": 80, "canonical_len": 80}}
            call = recorder.add("invoke", {"method": "publish", "publish": {"envelopes": [envelope]}, "wire_len": 82, "canonical_len": 82}, name)
            meta = log.append(identity)
            if dice.random() < 0.1:  # as if the answer had been lost on the way
                recorder.add("return", {"lost": "connection lost", "code": 0}, name, call)
            else:
                recorder.add("return", {"code": 0, "publish": {"metas": [meta]}}, name, call)
        else:
            after = cursor if dice.random() < 0.5 else 0
            entry = {"log": {"kind": 2, "name": "w"}, "topic": TOPIC, "cursor": after}
            call = recorder.add("invoke", {"method": "query", "query": {"entries": [entry]}, "wire_len": 40, "canonical_len": 40}, name)
            rows, more = log.read(after)
            cursor = max([cursor] + [r["meta"]["sequence"] for r in rows])
            recorder.add("return", {"code": 0, "query": {"rows": rows, "has_continuation": True, "has_more": more}}, name, call)


def main():
    path, fault = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "sound"
    sys.setswitchinterval(1e-6)  # let the threads meet
    recorder, log = Recorder(), Log(fault)
    recorder.add("mark", {"limits": LIMITS, "published": False})
    threads = [threading.Thread(target=client, args=(f"python-{n}", log, recorder)) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    recorder.save(path)


main()
