package backend_test

import (
	"fmt"

	"assay/impl/backend"
	"assay/impl/backend/backendtest"
	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// The stages that look at one request alone need no database.
func ExamplePublisher_Prepare() {
	c := config.Default()
	parts := backend.Standard(nil, c)
	batch, err := backend.NewPublisher(&parts, c.Limits).Prepare(&backendv1.PublishRequest{Envelopes: []*backendv1.ClientEnvelope{
		backendtest.Welcome(1, "hello"), backendtest.Welcome(1, "hello"), backendtest.GroupMessage(2, backendtest.Commit, "…", ""),
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(batch.Envelopes(), "envelopes, of them distinct:")
	for _, key := range batch.Keys() {
		fmt.Println(key.Topic.Kind(), key.Topic)
	}
	// Output:
	// 3 envelopes, of them distinct:
	// welcome 010101010101010101010101010101010101010101010101010101010101010101
	// group message 0002020202020202020202020202020202
}

// A topic is refused unless its length is that of its kind (API-003).
func ExampleParseTopic() {
	_, err := backend.ParseTopic([]byte{1, 2, 3})
	fmt.Println(err)
	_, err = backend.ParseTopic([]byte{9})
	fmt.Println(err)
	// Output:
	// the identifier of a welcome topic is 32 bytes, not 2
	// 0x09 is not a topic kind
}
