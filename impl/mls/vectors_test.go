package mls

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// messageVector is a row of messages.json; keyPackageVector one of keypackages.json.
type messageVector struct {
	Name             string `json:"name"`
	Hex              string `json:"hex"`
	WireFormat       string `json:"wire_format"`
	GroupID          string `json:"group_id"`
	ContentType      string `json:"content_type"`
	CommitOrProposal bool   `json:"is_commit_or_proposal"`
	Accept           bool   `json:"accept"`
	ExpectedReason   string `json:"expected_reason"`
	Why              string `json:"why"`
	Trailing         int    `json:"trailing_bytes"`
}

type keyPackageVector struct {
	Name            string  `json:"name"`
	Hex             string  `json:"hex"`
	CipherSuite     uint16  `json:"cipher_suite"`
	Valid           bool    `json:"valid"`
	ExpectedReason  string  `json:"expected_reason"`
	Detail          string  `json:"detail"`
	InstallationKey string  `json:"installation_key"`
	InboxID         *string `json:"inbox_id"`
}

type varintVector struct {
	Name   string `json:"name"`
	Hex    string `json:"hex"`
	Length *int   `json:"length"`
	Accept bool   `json:"accept"`
}

type vectorFile[T any] struct {
	ReferenceTime int64 `json:"reference_time_unix"`
	Cases         []T   `json:"cases"`
}

// readVectors loads a file and fails unless it holds the number of cases that its README promises.
func readVectors[T any](t testing.TB, name string, cases int) vectorFile[T] {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	var file vectorFile[T]
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(file.Cases) != cases {
		t.Fatalf("%s has %d cases, expected %d", name, len(file.Cases), cases)
	}
	return file
}

func messageVectors(t testing.TB) []messageVector {
	return readVectors[messageVector](t, "messages.json", 162).Cases
}

func keyPackageVectors(t testing.TB) ([]keyPackageVector, time.Time) {
	file := readVectors[keyPackageVector](t, "keypackages.json", 111)
	return file.Cases, time.Unix(file.ReferenceTime, 0)
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	data, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// problems says which refusal stands behind the vectors' own words for it.
var messageProblems = map[string]struct {
	field   string
	problem Problem
}{
	"short":                       {"", Truncated},
	"version":                     {"version", UnknownValue},
	"unknown wire format":         {"wire_format", UnknownValue},
	"not a protocol message wf=3": {"wire_format", NotProtocolMessage},
	"not a protocol message wf=4": {"wire_format", NotProtocolMessage},
	"not a protocol message wf=5": {"wire_format", NotProtocolMessage},
	"non-minimal varint":          {"", LengthForm},
	"varint prefix 11":            {"", LengthForm},
	"content type":                {"content_type", UnknownValue},
	"sender type":                 {"sender_type", UnknownValue},
	"unknown suite":               {"cipher_suite", UnknownValue},
	"psk type":                    {"psktype", UnknownValue},
	"duplicate extension":         {"extension_type", DuplicateExtension},
	"optional flag":               {"path", UnknownValue},
	"proposal_or_ref":             {"proposal_or_ref", UnknownValue},
}

func TestGroupMessageVectorsAreJudgedAsTheySay(t *testing.T) {
	for _, v := range messageVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			data := unhex(t, v.Hex)
			m, err := ParseGroupMessage(data)
			if !v.Accept {
				refusedMessage(t, v, m, err)
				return
			}
			if err != nil {
				t.Fatalf("refused: %v", err)
			}
			if got := hex.EncodeToString(m.GroupID); got != v.GroupID {
				t.Errorf("group id %s, expected %s", got, v.GroupID)
			}
			if got := m.ContentType.String(); got != v.ContentType {
				t.Errorf("content type %s, expected %s", got, v.ContentType)
			}
			if got := m.CommitOrProposal(); got != v.CommitOrProposal {
				t.Errorf("commit or proposal %t, expected %t", got, v.CommitOrProposal)
			}
			if got := len(data) - m.Len; got != v.Trailing {
				t.Errorf("%d trailing bytes, expected %d", got, v.Trailing)
			}
			if want := map[string]WireFormat{"public_message": PublicMessage, "private_message": PrivateMessage}[v.WireFormat]; m.WireFormat != want {
				t.Errorf("wire format %v, expected %s", m.WireFormat, v.WireFormat)
			}
		})
	}
}

// refusedMessage accepts a decode error with the vector's reason, or, where the vector's reason is the length of the
// group id, a message whose group id has a length that no topic takes.
func refusedMessage(t *testing.T, v messageVector, m GroupMessage, err error) {
	t.Helper()
	if v.ExpectedReason != "MALFORMED_PAYLOAD" {
		t.Fatalf("vector expects %s, which a group message cannot get", v.ExpectedReason)
	}
	if bytes.HasPrefix([]byte(v.Why), []byte("group id length")) {
		if err != nil || len(m.GroupID) == 16 {
			t.Fatalf("group id of %d bytes, error %v; expected a message that decodes with %s", len(m.GroupID), err, v.Why)
		}
		return
	}
	want, known := messageProblems[v.Why]
	if !known {
		t.Fatalf("the vector's reason %q is not in the table", v.Why)
	}
	var decode *DecodeError
	if !errors.As(err, &decode) {
		t.Fatalf("got %v, expected a decode error: %s", err, v.Why)
	}
	if decode.Problem != want.problem || want.field != "" && decode.Field != want.field {
		t.Errorf("refused with %q, expected %s: %s (%s)", err, want.field, want.problem, v.Why)
	}
}

// brokenRules says which rule stands behind the vectors' own words.
var brokenRules = map[string]Rule{
	"leaf source":    RuleLeafSource,
	"leaf signature": RuleLeafSignature,
	"signature scheme needs another key length": RuleLeafSignature,
	"small-order signature key":                 RuleLeafSignature,
	"version":                                   RuleVersion,
	"init key equals encryption key":            RuleDistinctKeys,
	"extension not allowed in key package":      RuleAllowedExtensions,
	"key package signature":                     RulePackageSignature,
	"extension not in capabilities":             RuleListedExtensions,
	"expired":                                   RuleLifetime,
	"not yet valid":                             RuleLifetime,
	"credential type":                           RuleCredentialType,
	"credential protobuf":                       RuleCredentialContent,
}

func TestKeyPackageVectorsAreJudgedAsTheySay(t *testing.T) {
	vectors, now := keyPackageVectors(t)
	for _, v := range vectors {
		t.Run(v.Name, func(t *testing.T) {
			k, err := ParseKeyPackage(unhex(t, v.Hex))
			if v.ExpectedReason == "MALFORMED_PAYLOAD" {
				refusedPackage(t, v, err)
				return
			}
			if err != nil {
				t.Fatalf("does not decode: %v", err)
			}
			if got := hex.EncodeToString(k.InstallationKey()); got != v.InstallationKey {
				t.Errorf("installation key %s, expected %s", got, v.InstallationKey)
			}
			if k.CipherSuite != v.CipherSuite {
				t.Errorf("cipher suite %d, expected %d", k.CipherSuite, v.CipherSuite)
			}
			if v.InboxID != nil && k.InboxID() != *v.InboxID {
				t.Errorf("inbox id %q, expected %q", k.InboxID(), *v.InboxID)
			}
			err = k.Validate(now)
			if v.Valid {
				if err != nil {
					t.Errorf("refused: %v", err)
				}
				return
			}
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v, expected it to be invalid: %s", err, v.Detail)
			}
			if want, known := brokenRules[v.Detail]; !known || invalid.Rule != want {
				t.Errorf("refused with %q, expected the %s rule: %s", err, want, v.Detail)
			}
		})
	}
}

// refusedPackage accepts a decode error that fits the vector's detail.
func refusedPackage(t *testing.T, v keyPackageVector, err error) {
	t.Helper()
	var decode *DecodeError
	if !errors.As(err, &decode) {
		t.Fatalf("got %v, expected a decode error: %s", err, v.Detail)
	}
	switch v.Detail {
	case "trailing":
		if decode.Problem != LeftOver {
			t.Errorf("refused with %q, expected bytes left over", err)
		}
	case "installation key length":
		if decode.Problem != KeyLength {
			t.Errorf("refused with %q, expected the key's length", err)
		}
	case "decode":
		if decode.Problem == LeftOver || decode.Problem == KeyLength {
			t.Errorf("refused with %q, expected bytes that do not decode", err)
		}
	default:
		t.Fatalf("the vector's detail %q is not in the table", v.Detail)
	}
}

func TestLengthHeaderVectorsAreJudgedAsTheySay(t *testing.T) {
	for _, v := range readVectors[varintVector](t, "varints.json", 23).Cases {
		t.Run(v.Name, func(t *testing.T) {
			data := unhex(t, v.Hex)
			c := newCursor(data)
			n := c.length("length")
			if !v.Accept {
				if c.err == nil {
					t.Fatalf("accepted as %d", n)
				}
				return
			}
			if c.err != nil || n != *v.Length || c.pos != len(data) {
				t.Errorf("length %d of %d header bytes, error %v; expected %d of %d", n, c.pos, c.err, *v.Length, len(data))
			}
		})
	}
}
