package file_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"assay/harness/history"
	"assay/harness/history/file"
	"assay/model"
	"assay/spec"

	"github.com/google/go-cmp/cmp"
)

// toy is a suite whose calls, returns and marks are one word each.
type toy struct{}

type word struct {
	Word string `json:"word"`
}

func (toy) Encode(e model.Event) (json.RawMessage, error) { return json.Marshal(e.Value) }

func (toy) Decode(_ model.Phase, data json.RawMessage) (any, error) {
	var w word
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	if w.Word == "" {
		return nil, errors.New("the word is empty")
	}
	return w, nil
}

func find(suite string) (file.Codec, error) {
	if suite != "toy" {
		return nil, fmt.Errorf("suite %q is unknown: use toy", suite)
	}
	return toy{}, nil
}

func sample() *history.History {
	return &history.History{
		Header: history.Header{Suite: "toy", Scenario: "toy/append/two", Session: "s1", Seed: 1<<64 - 1, Nonce: "7f3a", Subject: "./toy"},
		Events: []model.Event{
			{Index: 0, Phase: model.Invoke, At: 10, Actor: "A", Call: 1, Value: word{"append"}},
			{Index: 1, Phase: model.Invoke, At: 20, Actor: "B", Call: 2, Value: word{"append"}},
			{Index: 2, Phase: model.Mark, At: 30, Value: word{"crash"}},
			{Index: 3, Phase: model.Return, At: time.Millisecond, Actor: "A", Call: 1, Value: word{"ok"}},
		},
	}
}

func violation() file.Bundle {
	return file.Bundle{
		Tool: "assay v0.0.0-test", Suite: "toy", Scenario: "toy/append/two", Session: "s1", Requirement: "TOY-002", Assertion: "no-gap",
		Expected: "41", Got: "42", Call: 1, Events: []int{0, 3}, Seed: 1<<64 - 1, Nonce: "7f3a", Profile: "default", Access: spec.AccessOf(spec.Wire),
		Subject: "./toy", Choices: []byte{0, 1, 255}, Request: []byte{0x0a, 0x00}, Line: "curl -d @- http://localhost:1/append", History: sample(),
	}
}

func TestMain(m *testing.M) {
	flag.Bool("update", false, "rewrite the golden files")
	flag.Parse()
	os.Exit(m.Run())
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s differs (-golden +got); if that is meant, run with -update:\n%s", path, d)
	}
}

func TestAHistoryIsReadAsItWasWritten(t *testing.T) {
	var b bytes.Buffer
	if err := file.Write(&b, sample(), toy{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "sample.history.jsonl", b.Bytes())
	got, err := file.Read(&b, "h", find)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(sample(), got); d != "" {
		t.Errorf("(-written +read)\n%s", d)
	}
}

func TestABundleIsReadAsItWasWritten(t *testing.T) {
	var b bytes.Buffer
	if err := file.WriteBundle(&b, violation(), toy{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "sample.assay.json", b.Bytes())
	got, err := file.ReadBundle(&b, "b", find)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(violation(), got); d != "" {
		t.Errorf("(-written +read)\n%s", d)
	}
}

func TestReadNamesFileLineAndWhatItExpected(t *testing.T) {
	const head = `{"format":"assay.history/v1","suite":"toy","seed":1}` + "\n"
	invoke := func(index int, rest string) string {
		return fmt.Sprintf(`{"index":%d,"phase":"invoke","at_ns":1,"actor":"A","call":1,"value":{"word":"x"}%s}`+"\n", index, rest)
	}
	for _, c := range []struct{ name, text, want string }{
		{"an empty file", "", "f:1: the file is empty: expected a header of format assay.history/v1"},
		{"something that is no JSON", "hello\n", "f:1: expected a header such as"},
		{"another version", `{"format":"assay.history/v9"}`, `f:1: format is "assay.history/v9", expected assay.history/v1`},
		{"a header without a suite", `{"format":"assay.history/v1"}`, "f:1: the header names no suite"},
		{"a suite nobody knows", `{"format":"assay.history/v1","suite":"boat"}`, `f:1: suite "boat" is unknown: use toy`},
		{"a misspelt header field", `{"format":"assay.history/v1","suite":"toy","sede":1}`, `f:1: header: json: unknown field "sede"`},
		{"a misspelt event field", head + invoke(0, `,"acter":"B"`), `f:2: expected an event with index`},
		{"an index that skips", head + invoke(1, ""), "f:2: index is 1: expected 0"},
		{"an index left out", head + `{"phase":"mark","at_ns":1,"value":{"word":"x"}}`, "f:2: index is missing: expected 0"},
		{"an unknown phase", head + `{"index":0,"phase":"call"}`, `f:2: phase "call" is unknown: use invoke, return, mark, send or receive`},
		{"a time before the beginning", head + `{"index":0,"phase":"mark","at_ns":-1,"value":1}`, "f:2: at_ns is -1: expected nanoseconds"},
		{"a call without a number", head + `{"index":0,"phase":"invoke","at_ns":1,"actor":"A","value":{"word":"x"}}`, "f:2: call is 0: expected the call's number, from 1"},
		{"a call by nobody", head + `{"index":0,"phase":"invoke","at_ns":1,"call":1,"value":{"word":"x"}}`, "f:2: actor is empty"},
		{"a mark that belongs to a call", head + `{"index":0,"phase":"mark","at_ns":1,"call":1,"value":{"word":"x"}}`, "f:2: a mark has call 1"},
		{"an event without a value", head + `{"index":0,"phase":"mark","at_ns":1}`, "f:2: the event has no value"},
		{"a value the suite refuses", head + `{"index":0,"phase":"mark","at_ns":1,"value":{"word":""}}`, "f:2: value of the mark: the word is empty"},
		{"two objects on a line", head + strings.TrimSpace(invoke(0, "")) + "{}", "f:2: expected an event"},
		{"a blank line", head + "\n", "f:2: expected an event"},
		{"a return that nobody awaits", head + `{"index":0,"phase":"return","at_ns":1,"actor":"A","call":1,"value":{"word":"x"}}`, "f: event 0 returns call 1, which was never invoked (event n stands on line n+2)"},
		{"a line that is too long", head + strings.Repeat(" ", 17<<20), "f:2: the line is longer than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := file.Read(strings.NewReader(c.text), "f", find)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, error %v; want one that begins %q", h, err, c.want)
			}
		})
	}
}

func TestReadBundleRefuses(t *testing.T) {
	var b bytes.Buffer
	if err := file.WriteBundle(&b, violation(), toy{}); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	for _, c := range []struct{ name, old, new, want string }{
		{"another version", "bundle/v1", "bundle/v2", `f: format is "assay.bundle/v2", expected assay.bundle/v1`},
		{"a field it does not know", `"seed"`, `"x":1,"seed"`, "f: expected a bundle"},
		{"a text where a number belongs, naming the line", `"call": 1,`, `"call": "one",`, "f: expected a bundle of format assay.bundle/v1: line 11:"},
		{"hex that is none", `"0a00"`, `"0a0"`, "f: request_hex and request_bytes do not fit"},
		{"more hex than the request has", `"request_bytes": 2`, `"request_bytes": 1`, "f: request_hex and request_bytes do not fit"},
		{"proof that is not in the history", "    3\n", "    4\n", "f: event 4 is named as proof: expected an index below 4"},
		{"a requirement that is none", `"TOY-002"`, `"two"`, "f: requirement: "},
		{"a history of another suite", `"suite":"toy"`, `"suite":"yot"`, `f: the bundle is of suite "toy" and its history of "yot"`},
		{"an event out of order, naming it", `"index":2`, `"index":3`, "f: history[3]: index is 3: expected 2"},
		{"an unknown suite", `"suite": "toy"`, `"suite": "boat"`, `f: suite "boat" is unknown`},
		{"a file cut short", "]\n}\n", "", "f: expected a JSON object of format assay.bundle/v1: line "},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(good, c.old, c.new, 1)
			if text == good {
				t.Fatalf("the sample does not contain %q", c.old)
			}
			_, err := file.ReadBundle(strings.NewReader(text), "f", find)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got error %v; want one that begins %q", err, c.want)
			}
		})
	}
}

func TestABundleCarriesNoPassword(t *testing.T) {
	b := violation()
	b.Subject = "postgres://assay:hunter2@localhost/db"
	b.Line = "DSN='host=x password=hunter2' curl http://u:hunt/er2@host/x"
	b.History.Header.Subject = "postgres://assay:hunter2@localhost/db?password=hunter2"
	var out bytes.Buffer
	if err := file.WriteBundle(&out, b, toy{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunt") {
		t.Errorf("a password is in it:\n%s", out.String())
	}
}

func TestARequestTooLargeForABundleIsMarkedAndNotReplayed(t *testing.T) {
	b := violation()
	b.Request = make([]byte, 5<<20)
	var out bytes.Buffer
	if err := file.WriteBundle(&out, b, toy{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"request_bytes": 5242880`) {
		t.Error("the full length is not there")
	}
	if back, err := file.ReadBundle(&out, "f", find); err != nil || back.Request != nil {
		t.Errorf("read %d bytes of request, error %v; want none", len(back.Request), err)
	}
}

func TestSaveLeavesTheOldFileWhenWritingFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "evidence", "x.assay.json")
	write := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			if _, werr := io.WriteString(w, text); werr != nil {
				return werr
			}
			return err
		}
	}
	if err := file.Save(path, write("old", nil)); err != nil {
		t.Fatal(err)
	}
	if err := file.Save(path, write("half", errors.New("disk on fire"))); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got error %v, want one that names %s", err, path)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("the file holds %q, %v; want the old text", got, err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v; want the file alone", entries, err)
	}
}

func FuzzReadNeverTrusts(f *testing.F) {
	var h, b bytes.Buffer
	if err := errors.Join(file.Write(&h, sample(), toy{}), file.WriteBundle(&b, violation(), toy{})); err != nil {
		f.Fatal(err)
	}
	f.Add(h.Bytes())
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		if h, err := file.Read(bytes.NewReader(data), "f", find); err == nil {
			var again bytes.Buffer
			if err := file.Write(&again, h, toy{}); err != nil {
				t.Errorf("what was read cannot be written: %v", err)
			}
		}
		if b, err := file.ReadBundle(bytes.NewReader(data), "f", find); err == nil {
			if err := file.WriteBundle(io.Discard, b, toy{}); err != nil {
				t.Errorf("what was read cannot be written: %v", err)
			}
		}
	})
}

func ExampleRead() {
	h, err := file.Read(strings.NewReader(`{"format":"assay.history/v1","suite":"toy","seed":7}
{"index":0,"phase":"invoke","at_ns":1000,"actor":"A","call":1,"value":{"word":"append"}}
{"index":1,"phase":"return","at_ns":2000,"actor":"A","call":1,"value":{"word":"ok"}}
`), "my.history.jsonl", find)
	fmt.Println(h.Calls(), h.Events[1].Value, err)
	// Output: 1 {ok} <nil>
}
