package backend_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"assay/harness/backend"
	"assay/harness/backend/craft"
	"assay/harness/history"
	rules "assay/model/backend"
)

func TestTheRequestOfACallIsMadeAgain(t *testing.T) {
	s, err := backend.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	header := history.Header{Suite: "backend", Scenario: "x", Session: "y", Seed: 5, Nonce: "n"}
	request, call, canonical, err := craft.New(5, "n", "x#y").PublishRequest([]rules.Envelope{{Log: rules.Log{Kind: rules.Group, Name: "g"}, Content: "one", Encoding: rules.Reordered}})
	if err != nil {
		t.Fatal(err)
	}
	r := history.NewRecorder(header, func() time.Duration { return 0 })
	a := r.Actor("A")
	publish := a.Invoke(&rules.Call{Method: rules.MethodPublish, Publish: &call, WireLen: len(request), CanonicalLen: canonical})
	a.Return(publish, &rules.Return{})
	health := a.Invoke(&rules.Call{Method: rules.MethodHealth})
	a.Return(health, &rules.Return{})
	h := r.History()
	got, line := s.Request(h, publish)
	if string(got) != string(request) {
		t.Errorf("made %x; sent %x", got, request)
	}
	if !strings.Contains(line, hex.EncodeToString(request)) || !strings.Contains(line, "/xmtp.backend.v1.PublishService/Publish") {
		t.Errorf("the line is %s", line)
	}
	h.Header.Nonce = "another"
	if got, _ := s.Request(h, publish); got != nil {
		t.Error("a request of another run was made")
	}
	if got, line := s.Request(h, health); got != nil || line != "" {
		t.Errorf("a health check has %x and %q", got, line)
	}
	if got, _ := s.Request(h, 99); got != nil {
		t.Error("a call that is not there has a request")
	}
}
