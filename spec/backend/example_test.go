package backend_test

import (
	"fmt"
	"io/fs"
	"log"
	"os"

	"assay/spec"
	"assay/spec/backend"
)

// The catalogue answers what one requirement says and which access decides it.
func ExampleCatalogue() {
	cat, err := backend.Catalogue()
	if err != nil {
		log.Fatal(err)
	}
	r, _ := cat.Lookup("API-044")
	fmt.Println(r.Title)
	fmt.Println(r.Decidable(spec.AccessOf(spec.Wire, spec.Chain)))
	fmt.Println(r.OutOfReach(spec.AccessOf(spec.Wire)))

	topics, _ := cat.Limit("max_query_topics")
	fmt.Println(topics.Summary())
	// Output:
	// Wallet signatures are asked of the chain
	// true
	// needs wire+chain; this run has wire
	// max_query_topics: 1,000 pairs
}

// An address selects a requirement or a section; text and JSON render it.
func ExampleCatalogue_text() {
	cat, err := backend.Catalogue()
	if err != nil {
		log.Fatal(err)
	}
	selection, err := cat.Select("API-071")
	if err != nil {
		log.Fatal(err)
	}
	if err := spec.WriteText(os.Stdout, cat, selection); err != nil {
		log.Fatal(err)
	}
	// Output:
	// API-071  The limit of a query
	//   section      6 Query
	//   level        must, binds server
	//   statement    The limit counts envelopes over all topics together. It is 100 when none is given
	//                and never more than 1000: a higher one is lowered to 1000 and is not an error.
	//   decided by   wire
	//   reading      A limit of 0 is none. The numbers are those the server publishes where they
	//                differ.
	//   limit        max_query_limit: 1,000 envelopes
	//   limit        default_query_limit: 100 envelopes
}

// Proto gives the wire definition to whoever wants to generate a client.
func ExampleProto() {
	tree, err := backend.Proto()
	if err != nil {
		log.Fatal(err)
	}
	services, err := fs.Glob(tree, "backend/*/*.proto")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(services)
	// Output:
	// [backend/v1/backend.proto]
}
