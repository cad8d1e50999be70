package backend_test

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"assay/harness/backend"
	"assay/harness/backend/craft"
	"assay/harness/history"
	"assay/model"
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

func TestAStaticSubscriptionIsMadeAgain(t *testing.T) {
	s, err := backend.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := rules.StaticCall{Entries: []rules.Asked{craft.New(5, "n", "x").Ask(rules.Read{Log: rules.Log{Kind: rules.Group, Name: "g"}})}}
	request := craft.StaticRequest(c)
	r := history.NewRecorder(history.Header{Suite: "backend"}, func() time.Duration { return 0 })
	call := r.Actor("S").Invoke(&rules.Call{Method: rules.MethodStatic, Static: &c, WireLen: len(request)})
	got, line := s.Request(r.History(), call)
	if string(got) != string(request) || !strings.Contains(line, "/xmtp.backend.v1.SubscriptionService/SubscribeStatic") {
		t.Errorf("made %x by %s; sent %x", got, line, request)
	}
}

func TestEveryFrameIsDescribed(t *testing.T) {
	s, err := backend.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	one := uint64(1)
	ask := rules.Asked{Read: rules.Read{Log: rules.Log{Kind: rules.Group, Name: "g"}, Cursor: &one}}
	targets := []rules.Target{{Through: 3}, {Through: 0}}
	for want, value := range map[string]any{
		"subscribe statically to group g after 1": &rules.Call{Method: rules.MethodStatic, Static: &rules.StaticCall{Entries: []rules.Asked{ask}}},
		"subscribe":                        &rules.Call{Method: rules.MethodSubscribe},
		"update 2 adds group g after 1":    &rules.Request{Update: &rules.Update{ID: 2, Adds: []rules.Asked{ask}}},
		"update 3 removes group g after 1": &rules.Request{Update: &rules.Update{ID: 3, Removes: []rules.Asked{ask}}},
		"ping 1":                           &rules.Request{Ping: &one},
		"pong 1":                           &rules.Response{Pong: &one},
		"half-close":                       &rules.Request{Close: true},
		"cancel":                           &rules.Request{Cancel: true},
		"a frame without an alternative":   &rules.Response{Empty: true},
		"started, keepalive 9 ms with targets 3, 0": &rules.Response{Started: &rules.Started{KeepaliveMS: 9, Targets: targets}},
		"applied 4 with targets 3, 0":               &rules.Response{Applied: &rules.Applied{ID: 4, Targets: targets}},
		"applied 5":                                 &rules.Response{Applied: &rules.Applied{ID: 5}},
		"ids 7, 8":                                  &rules.Response{Messages: &rules.Messages{Rows: []rules.Row{{Meta: rules.Meta{Sequence: 7}}, {Meta: rules.Meta{Sequence: 8}}}}},
		"keepalive":                                 &rules.Response{Keepalive: true},
	} {
		if got := s.Describe(model.Event{Value: value}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
