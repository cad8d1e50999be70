// Package backendtest runs the reference backend inside a test, on a loopback
// port and a database that the test brings. Start with [Start].
//
// It is for tests only.
package backendtest

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/serve"
	"assay/spec/gen/xmtp/identity/associations"
	"assay/spec/gen/xmtp/mls/messagecontents"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// startTimeout bounds the start of a backend; a machine under load is slow to
// create databases.
const startTimeout = 60 * time.Second

// receiveBytes is what a test's client takes: well above what a server may
// send, so that an oversized response is seen as one.
const receiveBytes = 64 << 20

// Options change the backend under test.
type Options struct {
	// Configure changes the configuration.
	Configure func(*config.Config)
	// Mutate breaks a part.
	Mutate func(*backend.Parts, *config.Config)
}

// Backend is a running backend and clients of it.
type Backend struct {
	Address       string
	DatabaseURL   string
	Conn          *grpc.ClientConn
	Publish       backendv1.PublishServiceClient
	Query         backendv1.QueryServiceClient
	Configuration backendv1.ConfigurationServiceClient
	Subscription  backendv1.SubscriptionServiceClient
	// Stop drains the backend and returns what it ended with. It runs at the
	// end of the test anyway.
	Stop func() error
}

// Start runs a backend on a database until the test ends.
func Start(t testing.TB, databaseURL string, o Options) *Backend {
	t.Helper()
	c := config.Default()
	c.Server.Listen = "127.0.0.1:0"
	c.Database.URL = databaseURL
	if o.Configure != nil {
		o.Configure(&c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() {
		ended <- serve.Run(ctx, c, serve.Options{
			Log:    slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
			Ready:  func(a net.Addr) { ready <- a },
			Mutate: o.Mutate,
		})
	}()
	b := &Backend{DatabaseURL: databaseURL}
	select {
	case a := <-ready:
		b.Address = a.String()
	case err := <-ended:
		cancel()
		t.Fatalf("the backend did not start: %v", err)
	case <-time.After(startTimeout):
		cancel()
		t.Fatalf("the backend did not start within %v", startTimeout)
	}
	stopped := false
	b.Stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	conn, err := grpc.NewClient(b.Address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(receiveBytes), grpc.MaxCallSendMsgSize(receiveBytes)))
	if err != nil {
		t.Fatal(err)
	}
	b.Conn = conn
	b.Publish = backendv1.NewPublishServiceClient(conn)
	b.Query = backendv1.NewQueryServiceClient(conn)
	b.Configuration = backendv1.NewConfigurationServiceClient(conn)
	b.Subscription = backendv1.NewSubscriptionServiceClient(conn)
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if err := b.Stop(); err != nil {
			t.Errorf("the backend ended with: %v", err)
		}
	})
	return b
}

// Welcome is the smallest envelope there is: a welcome for the installation
// whose key is 32 times the given byte.
func Welcome(installation byte, data string) *backendv1.ClientEnvelope {
	return WelcomeTo(Key(installation), data)
}

// WelcomeTo is a welcome for the installation of the given key.
func WelcomeTo(key []byte, data string) *backendv1.ClientEnvelope {
	return &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_WelcomeMessage{WelcomeMessage: &backendv1.WelcomeMessage{
		Version: &backendv1.WelcomeMessage_V1_{V1: &backendv1.WelcomeMessage_V1{InstallationKey: key, Data: []byte(data)}},
	}}}
}

// Key is 32 times b.
func Key(b byte) []byte { return repeat(b, 32) }

// GroupID is 16 times b.
func GroupID(b byte) []byte { return repeat(b, 16) }

func repeat(b byte, n int) []byte {
	out := make([]byte, n)
	for i := range out {
		out[i] = b
	}
	return out
}

// Content types of an MLS message.
const (
	Application = 1
	Proposal    = 2
	Commit      = 3
)

// GroupMessage is a private MLS message to the group whose id is 16 times the
// given byte, with tail behind it.
func GroupMessage(group, contentType byte, ciphertext, tail string) *backendv1.ClientEnvelope {
	return GroupMessageTo(GroupID(group), contentType, ciphertext, tail)
}

// GroupMessageTo is a private MLS message to the group of the given id, which
// must be shorter than 64 bytes, as must the ciphertext.
func GroupMessageTo(id []byte, contentType byte, ciphertext, tail string) *backendv1.ClientEnvelope {
	data := []byte{0, 1, 0, 2, byte(len(id))}
	data = append(data, id...)
	data = append(data, 0, 0, 0, 0, 0, 0, 0, 1, contentType)
	data = append(data, 0) // authenticated_data
	data = append(data, 0) // encrypted_sender_data
	data = append(data, byte(len(ciphertext)))
	data = append(data, ciphertext...)
	data = append(data, tail...)
	return &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_GroupMessage{GroupMessage: &backendv1.GroupMessage{Data: data}}}
}

// Topic is kind byte and identifier.
func Topic(kind backend.Kind, id []byte) *backendv1.Topic {
	return &backendv1.Topic{Topic: append([]byte{byte(kind)}, id...)}
}

// From is a query entry for everything on a topic above a cursor.
func From(topic *backendv1.Topic, after uint64) *backendv1.TopicQuery {
	return &backendv1.TopicQuery{Topic: topic, Cursor: &backendv1.Cursor{SequenceId: after}}
}

// CommitLog is a commit-log entry of the group whose id is 16 times the given
// byte.
func CommitLog(group byte, epoch uint64, signature *associations.RecoverableEd25519Signature) *backendv1.ClientEnvelope {
	entry := &messagecontents.PlaintextCommitLogEntry{GroupId: GroupID(group), AppliedEpochNumber: epoch}
	raw, err := proto.Marshal(entry)
	if err != nil {
		panic(err) // an entry without strings always encodes
	}
	return RawCommitLog(raw, signature)
}

// RawCommitLog is a commit-log entry of any bytes.
func RawCommitLog(raw []byte, signature *associations.RecoverableEd25519Signature) *backendv1.ClientEnvelope {
	return &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_CommitLogEntry{
		CommitLogEntry: &backendv1.CommitLogEntry{SerializedCommitLogEntry: raw, Signature: signature}}}
}

// Pointer is a welcome pointer to the installation whose key is 32 times the
// given byte.
func Pointer(installation byte, data string) *backendv1.ClientEnvelope {
	return &backendv1.ClientEnvelope{Payload: &backendv1.ClientEnvelope_WelcomeMessage{WelcomeMessage: &backendv1.WelcomeMessage{
		Version: &backendv1.WelcomeMessage_WelcomePointer_{WelcomePointer: &backendv1.WelcomeMessage_WelcomePointer{
			InstallationKey: Key(installation), WelcomePointer: []byte(data)}},
	}}}
}
