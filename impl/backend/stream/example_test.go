package stream_test

import (
	"fmt"
	"time"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/stream"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// A session says what it wants done and is told what became of it; here the
// example does both.
func ExampleSession() {
	c := config.Default()
	s := stream.NewSession(stream.Settings{Limits: c.Limits, Streams: c.Streams})
	now := time.Unix(0, 0)
	step := func(e stream.Event) {
		for _, effect := range s.Step(now, e) {
			switch f := effect.(type) {
			case stream.Send:
				fmt.Printf("send %T\n", f.Frame)
			case stream.Register:
				fmt.Println("register", len(f.Topics), "topic")
			case stream.ReadHeads:
				fmt.Println("read its head")
			case stream.ReadPage:
				fmt.Println("read what is above", f.From[0].After)
			}
		}
	}
	welcomes := backend.Topic("\x01" + string(make([]byte, 32)))
	step(stream.Opened{})
	step(stream.Received{Frame: &backendv1.SubscribeRequest{Request: &backendv1.SubscribeRequest_Update_{
		Update: &backendv1.SubscribeRequest_Update{Id: 1, Adds: []*backendv1.TopicQuery{{
			Topic: &backendv1.Topic{Topic: []byte(welcomes)}, Cursor: &backendv1.Cursor{SequenceId: 3}}}}}}})
	step(stream.HeadsRead{Heads: []int64{4}})
	step(stream.PageRead{Page: stream.Page{Rows: []stream.Row{{Topic: welcomes, ID: 4}}, Cut: 1}})
	step(stream.Arrived{Rows: []stream.Row{{Topic: welcomes, ID: 7}}})
	// Output:
	// send stream.Started
	// register 1 topic
	// read its head
	// send stream.Applied
	// read what is above 3
	// send stream.Messages
	// send stream.Messages
}
