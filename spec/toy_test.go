package spec_test

import (
	"log"
	"testing"

	"assay/spec"
)

// toyRequirements and toyLimits are the catalogue of a log with two calls,
// small enough to see at a glance what a test changes in it.
const toyRequirements = `suite: toy
title: Toy log
source: "the comment of the toy server"
sections:
  - {number: "1", title: Words}
  - {number: "2", title: Appending}
  - {number: "2.1", title: Order and place}
  - {number: "3", title: Reading}
glossary:
  - {word: entry, meaning: what is appended}
  - {word: place, meaning: the number of an entry}
retired:
  - {id: TOY-002, reason: entries have no names any more}
requirements:
  - id: TOY-001
    section: "2"
    title: Appends answer with a place
    statement: >
      An append that succeeds
      answers with the place of its entry.
    level: must
    binds: [server]
    decided_by: [[wire]]
    limits_of_evidence: A lost answer is not seen.
  - id: TOY-004
    section: "2.1"
    title: Places rise
    statement: A later append gets a higher place.
    level: must
    binds: [server, client]
    decided_by: [[wire, gate], [replica]]
  - id: TOY-003
    section: "3"
    title: Readers keep quiet
    statement: A reader tells nobody what it read.
    level: should
    binds: [client]
    undecidable: silence cannot be seen
    notes: Logging is telling.
`

const toyLimits = `limits:
  - key: log.max_entry_bytes
    default: 1_048_576
    ceiling: 2097152
    unit: bytes
    published_as: limits.entry_bytes
    section: "2"
    requirements: [TOY-001]
    meaning: Size of one entry.
  - {key: log.page, default: 10, unit: entries, meaning: Entries of one answer.}
`

func toy(t *testing.T) *spec.Catalogue {
	t.Helper()
	cat, err := spec.LoadCatalogue([]byte(toyRequirements), []byte(toyLimits))
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// mustToy is toy for examples, which have no testing.T.
func mustToy() *spec.Catalogue {
	cat, err := spec.LoadCatalogue([]byte(toyRequirements), []byte(toyLimits))
	if err != nil {
		log.Fatal(err)
	}
	return cat
}
