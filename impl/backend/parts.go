package backend

import (
	"context"
	"crypto/sha256"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	"assay/impl/backend/config"
	"assay/impl/identity"
	"assay/spec/gen/xmtp/identity/associations"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Parts are the pieces a backend is made of. [Standard] returns those of the
// specification. Functions are pure: the same arguments, the same answer.
type Parts struct {
	Store Store

	// Encode returns the canonical bytes of an envelope: what is stored, and
	// what the message hash is the hash of (API-020).
	Encode func(*backendv1.ClientEnvelope) ([]byte, error)
	// Hash is the message hash.
	Hash func(canonical []byte) Hash
	// Decode reads a payload as far as its topic needs (API-040).
	Decode func(*backendv1.ClientEnvelope) (Payload, error)
	// Retention is the time from storing to earliest deletion, 0 for never
	// (API-021). It knows no clock: the store adds it to the server time.
	Retention func(Payload) time.Duration
	// LockKey names the lock of a topic's writers.
	LockKey func(Topic) int64
	// KeyPackages decides key packages; nil answers UNIMPLEMENTED.
	KeyPackages KeyPackageValidator
	// Identity decides identity updates; nil answers UNIMPLEMENTED. A process
	// that serves makes it of IdentityRules, which a mutant may change first.
	Identity      IdentityValidator
	IdentityRules identity.Rules
	// Resolve picks what a publish is told of all that is wrong with it
	// (API-047). Refusals are in ascending order of index and not empty.
	Resolve func([]*Refusal) *Refusal

	// PlanQuery checks a query and lays down what to read.
	PlanQuery func(*backendv1.QueryRequest) (QueryPlan, error)
	// PlanNewest checks a newest read and lays down what to read.
	PlanNewest func(*backendv1.QueryNewestRequest) (NewestPlan, error)
	// PlanLookup checks an inbox lookup and normalizes what to look for.
	PlanLookup func(*backendv1.GetInboxIdsRequest) ([]Identifier, error)
	// Wallets asks smart contract wallets; nil answers UNIMPLEMENTED.
	Wallets WalletVerifier
	// Subscription serves streams; nil answers UNIMPLEMENTED. Package stream has
	// the one of the specification.
	Subscription backendv1.SubscriptionServiceServer
	// Configuration is what is published of the configuration (API-135).
	Configuration func(*config.Config) *backendv1.GetConfigurationResponse

	// Services may put something around the services, and Transport around
	// HTTP itself; nil leaves them alone.
	Services  func(Services) Services
	Transport func(http.Handler) http.Handler
}

// Services are what a backend answers calls with.
type Services struct {
	Publish       backendv1.PublishServiceServer
	Query         backendv1.QueryServiceServer
	Subscription  backendv1.SubscriptionServiceServer
	Identity      backendv1.IdentityServiceServer
	Configuration backendv1.ConfigurationServiceServer
}

// KeyPackageValidator decides whether a key package may be stored (API-042).
type KeyPackageValidator interface {
	// ValidateKeyPackage judges the TLS-encoded package. Decode has seen it
	// before. It returns nil or a *Refusal; index and code need not be set.
	ValidateKeyPackage(ctx context.Context, tls []byte) error
}

// IdentityValidator decides whether an identity update applies (API-043).
type IdentityValidator interface {
	// ValidateIdentityUpdate judges update against the inbox's whole history,
	// oldest first, and returns what it changes in the lookup of inboxes;
	// SequenceID is not known yet and stays 0. An error is a *Refusal, whose
	// code Unavailable says that the verdict is open (API-044); its index need
	// not be set.
	ValidateIdentityUpdate(ctx context.Context, history []*associations.IdentityUpdate, update *associations.IdentityUpdate) ([]Association, error)
}

// Standard returns the parts that the specification asks for, but for those that
// need a clock or a network: KeyPackages, Identity and Wallets are nil.
func Standard(store Store, c config.Config) Parts {
	return Parts{
		Store:         store,
		Encode:        Canonical,
		Hash:          func(canonical []byte) Hash { return sha256.Sum256(canonical) },
		Decode:        Decode,
		Retention:     RetentionPolicy(c.Retention),
		LockKey:       LockKey,
		Resolve:       FirstEnvelope,
		PlanQuery:     QueryPlanner(c.Limits),
		PlanNewest:    NewestPlanner(c.Limits),
		PlanLookup:    LookupPlanner(c.Limits),
		Configuration: PublishedConfiguration,
	}
}

// Canonical is the canonical protobuf encoding: fields by number, defaults left
// out, unknown fields gone (they are dropped when the request is read). Only
// the framing is normalized; bytes fields are what they were (API-023).
func Canonical(e *backendv1.ClientEnvelope) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(e)
}

// RetentionPolicy returns the rule of API-021 for configured times.
func RetentionPolicy(c config.Retention) func(Payload) time.Duration {
	group := time.Duration(c.GroupMessageSeconds) * time.Second
	welcome := time.Duration(c.WelcomeSeconds) * time.Second
	keyPackage := time.Duration(c.KeyPackageSeconds) * time.Second
	return func(p Payload) time.Duration {
		switch p.Topic.Kind() {
		case KindGroupMessage:
			if p.CommitOrProposal {
				return 0
			}
			return group
		case KindWelcome:
			return welcome
		case KindKeyPackage:
			return keyPackage
		}
		return 0
	}
}

// FirstEnvelope is the refusal of the lowest index. A verdict that could not be
// reached counts like any other: whether the request is at fault is open then.
func FirstEnvelope(all []*Refusal) *Refusal { return all[0] }
