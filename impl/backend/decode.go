package backend

import (
	"encoding/hex"
	"errors"
	"fmt"

	"google.golang.org/protobuf/proto"

	"assay/impl/mls"
	"assay/spec/gen/xmtp/identity/associations"
	"assay/spec/gen/xmtp/mls/messagecontents"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Payload is what the backend learned from an envelope by parsing it.
type Payload struct {
	Topic Topic
	// CommitOrProposal says something of group messages only.
	CommitOrProposal bool
	// Update is the identity update, nil for other kinds.
	Update *associations.IdentityUpdate
	// KeyPackage holds the TLS bytes of a key package, nil for other kinds.
	KeyPackage []byte
}

// Decode parses an envelope's payload and derives its topic (API-001, API-002,
// API-040). An error says what does not parse.
func Decode(e *backendv1.ClientEnvelope) (Payload, error) {
	switch p := e.GetPayload().(type) {
	case *backendv1.ClientEnvelope_GroupMessage:
		return decodeGroupMessage(p.GroupMessage)
	case *backendv1.ClientEnvelope_WelcomeMessage:
		return decodeWelcome(p.WelcomeMessage)
	case *backendv1.ClientEnvelope_KeyPackage:
		return decodeKeyPackage(p.KeyPackage)
	case *backendv1.ClientEnvelope_IdentityUpdate:
		return decodeIdentityUpdate(p.IdentityUpdate)
	case *backendv1.ClientEnvelope_CommitLogEntry:
		return decodeCommitLogEntry(p.CommitLogEntry)
	}
	return Payload{}, errors.New("the envelope has no payload")
}

// decodeGroupMessage reads the MLS framing. Whatever follows the MLS message is
// stored with it and not looked at (API-041).
func decodeGroupMessage(m *backendv1.GroupMessage) (Payload, error) {
	message, err := mls.ParseGroupMessage(m.GetData())
	if err != nil {
		return Payload{}, fmt.Errorf("the group message is not an MLS protocol message: %w", err)
	}
	topic, err := NewTopic(KindGroupMessage, message.GroupID)
	return Payload{Topic: topic, CommitOrProposal: message.CommitOrProposal()}, err
}

// decodeWelcome reads the installation key and nothing else: a pointer may be
// addressed to 32 random bytes (API-045).
func decodeWelcome(m *backendv1.WelcomeMessage) (Payload, error) {
	var key []byte
	switch v := m.GetVersion().(type) {
	case *backendv1.WelcomeMessage_V1_:
		key = v.V1.GetInstallationKey()
	case *backendv1.WelcomeMessage_WelcomePointer_:
		key = v.WelcomePointer.GetInstallationKey()
	default:
		return Payload{}, errors.New("the welcome has no version")
	}
	topic, err := NewTopic(KindWelcome, key)
	return Payload{Topic: topic}, err
}

func decodeKeyPackage(m *backendv1.KeyPackage) (Payload, error) {
	tls := m.GetKeyPackageTlsSerialized()
	k, err := mls.ParseKeyPackage(tls)
	if err != nil {
		return Payload{}, fmt.Errorf("the key package does not parse: %w", err)
	}
	topic, err := NewTopic(KindKeyPackage, k.InstallationKey())
	return Payload{Topic: topic, KeyPackage: tls}, err
}

func decodeIdentityUpdate(m *associations.IdentityUpdate) (Payload, error) {
	inbox, err := hex.DecodeString(m.GetInboxId())
	if err != nil {
		return Payload{}, errors.New("the inbox id is not hexadecimal")
	}
	topic, err := NewTopic(KindIdentityUpdate, inbox)
	return Payload{Topic: topic, Update: m}, err
}

// decodeCommitLogEntry reads the group id. The signature is nobody's business
// here (API-046).
func decodeCommitLogEntry(m *backendv1.CommitLogEntry) (Payload, error) {
	var entry messagecontents.PlaintextCommitLogEntry
	if err := proto.Unmarshal(m.GetSerializedCommitLogEntry(), &entry); err != nil {
		return Payload{}, errors.New("the commit-log entry is not a plaintext commit-log entry")
	}
	topic, err := NewTopic(KindCommitLogEntry, entry.GetGroupId())
	return Payload{Topic: topic}, err
}
