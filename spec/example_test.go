package spec_test

import (
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"assay/spec"
)

// A mistake in a catalogue is found when it is loaded, and named by file and line.
func ExampleLoadCatalogue() {
	_, err := spec.LoadCatalogue([]byte("suite: toy\nsections:\n  - {numbr: \"1\", title: Words}\n"), []byte("limits: []\n"))
	fmt.Println(err)
	// Output:
	// requirements.yaml:3: a section has no key "numbr": expected one of number, title
}

func ExampleCatalogue_Select() {
	cat := mustToy()
	for _, address := range []string{"TOY-003", "2", "order-and-place", "TOY-002"} {
		selection, err := cat.Select(address)
		if err != nil {
			fmt.Println(err)
		}
		for _, r := range selection {
			fmt.Println(address, "->", r.ID, r.Title)
		}
	}
	// Output:
	// TOY-003 -> TOY-003 Readers keep quiet
	// 2 -> TOY-001 Appends answer with a place
	// 2 -> TOY-004 Places rise
	// order-and-place -> TOY-004 Places rise
	// TOY-002 is retired: entries have no names any more
}

func ExampleCatalogue_Coverage() {
	decided := map[spec.ID]bool{"TOY-001": true}
	c := mustToy().Coverage(spec.AccessOf(spec.Wire), func(id spec.ID) bool { return decided[id] })
	fmt.Println("covered", c.Covered, "uncovered", c.Uncovered, "complete", c.Complete())
	for _, gap := range c.OutOfReach {
		fmt.Println("out of reach", gap.ID, gap.Reason)
	}
	// Output:
	// covered [TOY-001] uncovered [] complete true
	// out of reach TOY-003 silence cannot be seen
	// out of reach TOY-004 needs wire+gate or replica; this run has wire
}

func ExampleWriteIndex() {
	cat := mustToy()
	if err := spec.WriteIndex(os.Stdout, cat, cat.Listed()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// toy: Toy log, 3 of 3 requirements
	//
	// 2 Appending
	//   TOY-001  must    wire                  Appends answer with a place
	//
	// 2.1 Order and place
	//   TOY-004  must    wire+gate or replica  Places rise
	//
	// 3 Reading
	//   TOY-003  should  nothing               Readers keep quiet
}

func ExampleWriteText() {
	cat := mustToy()
	selection, err := cat.Select("2")
	if err != nil {
		log.Fatal(err)
	}
	if err := spec.WriteText(os.Stdout, cat, selection); err != nil {
		log.Fatal(err)
	}
	// Output:
	// TOY-001  Appends answer with a place
	//   section      2 Appending
	//   level        must, binds server
	//   statement    An append that succeeds answers with the place of its entry.
	//   decided by   wire
	//   evidence     A lost answer is not seen.
	//   limit        max_entry_bytes: 1,048,576 bytes, at most 2,097,152
	//
	// TOY-004  Places rise
	//   section      2.1 Order and place
	//   level        must, binds server and client
	//   statement    A later append gets a higher place.
	//   decided by   wire+gate or replica
}

func ExampleWriteJSON() {
	cat := mustToy()
	selection, err := cat.Select("TOY-001")
	if err != nil {
		log.Fatal(err)
	}
	if err := spec.WriteJSON(os.Stdout, cat, selection); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {
	//   "format": "assay.spec/v1",
	//   "suite": "toy",
	//   "title": "Toy log",
	//   "source": "the comment of the toy server",
	//   "sections": [
	//     {
	//       "number": "2",
	//       "title": "Appending"
	//     }
	//   ],
	//   "requirements": [
	//     {
	//       "id": "TOY-001",
	//       "section": "2",
	//       "title": "Appends answer with a place",
	//       "statement": "An append that succeeds answers with the place of its entry.",
	//       "level": "must",
	//       "binds": [
	//         "server"
	//       ],
	//       "decided_by": [
	//         [
	//           "wire"
	//         ]
	//       ],
	//       "limits_of_evidence": "A lost answer is not seen."
	//     }
	//   ],
	//   "limits": [
	//     {
	//       "name": "max_entry_bytes",
	//       "key": "log.max_entry_bytes",
	//       "default": 1048576,
	//       "ceiling": 2097152,
	//       "unit": "bytes",
	//       "published_as": "limits.entry_bytes",
	//       "section": "2",
	//       "requirements": [
	//         "TOY-001"
	//       ],
	//       "meaning": "Size of one entry."
	//     }
	//   ],
	//   "glossary": [
	//     {
	//       "word": "entry",
	//       "meaning": "what is appended"
	//     },
	//     {
	//       "word": "place",
	//       "meaning": "the number of an entry"
	//     }
	//   ]
	// }
}

func ExampleWriteLimits() {
	if err := spec.WriteLimits(os.Stdout, mustToy()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// max_entry_bytes: 1,048,576 bytes, at most 2,097,152
	//   meaning      Size of one entry.
	//   configured   log.max_entry_bytes
	//   published    limits.entry_bytes
	//   stated       section 2 Appending
	//   rules        TOY-001
	//
	// page: 10 entries
	//   meaning      Entries of one answer.
	//   configured   log.page
	//   stated       by one implementation; no verdict rests on it
}

func ExampleWriteGlossary() {
	if err := spec.WriteGlossary(os.Stdout, mustToy()); err != nil {
		log.Fatal(err)
	}
	// Output:
	// entry
	//   meaning      what is appended
	//
	// place
	//   meaning      the number of an entry
}

func ExampleWriteSources() {
	tree := fstest.MapFS{
		"log/v1/log.proto": {Data: []byte("syntax = \"proto3\";\n\n")},
		"log/place.proto":  {Data: []byte("syntax = \"proto3\";")},
	}
	if err := spec.WriteSources(os.Stdout, tree); err != nil {
		log.Fatal(err)
	}
	// Output:
	// // file: log/place.proto
	// syntax = "proto3";
	//
	// // file: log/v1/log.proto
	// syntax = "proto3";
}
