package backend

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// newServices puts the stages behind the generated interfaces. All that happens
// here is translation between the wire and the domain.
func newServices(parts *Parts, c config.Config, log *slog.Logger) Services {
	services := Services{
		Publish:       &publishService{publisher: NewPublisher(parts, c.Limits), log: log},
		Query:         &queryService{parts: parts, reader: NewReader(parts, c.Limits), log: log},
		Subscription:  parts.Subscription,
		Identity:      &identityService{parts: parts, limits: c.Limits, log: log},
		Configuration: &configurationService{published: parts.Configuration(&c)},
	}
	if services.Subscription == nil {
		services.Subscription = backendv1.UnimplementedSubscriptionServiceServer{}
	}
	if parts.Services != nil {
		services = parts.Services(services)
	}
	return services
}

// told logs what stays behind and returns what the client is told.
func told(ctx context.Context, log *slog.Logger, call string, err error) error {
	if _, refused := err.(*Refusal); !refused && err != nil && ctx.Err() == nil {
		log.WarnContext(ctx, "call failed", "call", call, "error", err)
	}
	return answer(err)
}

type publishService struct {
	backendv1.UnimplementedPublishServiceServer
	publisher *Publisher
	log       *slog.Logger
}

func (s *publishService) Publish(ctx context.Context, request *backendv1.PublishRequest) (*backendv1.PublishResponse, error) {
	batch, err := s.publisher.Prepare(request)
	if err != nil {
		return nil, told(ctx, s.log, "publish", err)
	}
	receipts, err := s.publisher.Commit(ctx, batch)
	if err != nil {
		return nil, told(ctx, s.log, "publish", err)
	}
	response := &backendv1.PublishResponse{EnvelopeMetas: make([]*backendv1.EnvelopeMeta, len(receipts))}
	for i, r := range receipts {
		response.EnvelopeMetas[i] = meta(r.Key, r.Stored)
	}
	return response, nil
}

type queryService struct {
	backendv1.UnimplementedQueryServiceServer
	parts  *Parts
	reader *Reader
	log    *slog.Logger
}

func (s *queryService) Query(ctx context.Context, request *backendv1.QueryRequest) (*backendv1.QueryResponse, error) {
	plan, err := s.parts.PlanQuery(request)
	if err != nil {
		return nil, told(ctx, s.log, "query", err)
	}
	page, err := s.reader.Query(ctx, plan)
	if err != nil {
		return nil, told(ctx, s.log, "query", err)
	}
	response := &backendv1.QueryResponse{
		Envelopes:    make([]*backendv1.ServerEnvelope, len(page.Entries)),
		Continuation: &backendv1.Continuation{HasMore: page.More},
	}
	for i, e := range page.Entries {
		envelope, err := decodeStored(e)
		if err != nil {
			return nil, told(ctx, s.log, "query", err)
		}
		response.Envelopes[i] = &backendv1.ServerEnvelope{Meta: meta(e.Key, e.Stored), Envelope: envelope}
	}
	return response, nil
}

func (s *queryService) QueryNewest(ctx context.Context, request *backendv1.QueryNewestRequest) (*backendv1.QueryNewestResponse, error) {
	plan, err := s.parts.PlanNewest(request)
	if err != nil {
		return nil, told(ctx, s.log, "query newest", err)
	}
	page, err := s.reader.Newest(ctx, plan)
	if err != nil {
		return nil, told(ctx, s.log, "query newest", err)
	}
	response := &backendv1.QueryNewestResponse{Results: make([]*backendv1.QueryNewestResponse_Result, len(page.Entries))}
	for i, e := range page.Entries {
		result := &backendv1.QueryNewestResponse_Result{Topic: wireTopic(e.Topic), Meta: meta(e.Key, e.Stored)}
		if plan.Full {
			if result.Envelope, err = decodeStored(e); err != nil {
				return nil, told(ctx, s.log, "query newest", err)
			}
		}
		response.Results[i] = result
	}
	return response, nil
}

// meta is the metadata of one envelope on the wire (section 4).
func meta(key Key, s Stored) *backendv1.EnvelopeMeta {
	return &backendv1.EnvelopeMeta{
		Cursor:             &backendv1.Cursor{SequenceId: uint64(s.SequenceID)},
		ServerNs:           uint64(s.ServerNS),
		MessageHash:        &backendv1.MessageHash{Hash: &backendv1.MessageHash_Sha256{Sha256: slices.Clone(key.Hash[:])}},
		Topic:              wireTopic(key.Topic),
		ExpiryNs:           uint64(s.ExpiryNS),
		IsCommitOrProposal: s.CommitOrProposal,
	}
}

// EncodeEntry returns an envelope as the encoded ServerEnvelope. The stored
// bytes are already what they have to be.
func EncodeEntry(e Entry) ([]byte, error) {
	m := meta(e.Key, e.Stored)
	size := proto.Size(m)
	b := make([]byte, 0, protowire.SizeTag(1)+protowire.SizeBytes(size)+protowire.SizeTag(2)+protowire.SizeBytes(len(e.Payload)))
	b = protowire.AppendVarint(protowire.AppendTag(b, 1, protowire.BytesType), uint64(size))
	b, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(b, m)
	if err != nil {
		return nil, fmt.Errorf("encode the metadata of envelope %d: %w", e.SequenceID, err)
	}
	return protowire.AppendBytes(protowire.AppendTag(b, 2, protowire.BytesType), e.Payload), nil
}

func wireTopic(t Topic) *backendv1.Topic { return &backendv1.Topic{Topic: []byte(t)} }

// decodeStored turns stored bytes back into an envelope. They are what Encode
// made, so a failure is the store's.
func decodeStored(e Entry) (*backendv1.ClientEnvelope, error) {
	envelope := new(backendv1.ClientEnvelope)
	if err := proto.Unmarshal(e.Payload, envelope); err != nil {
		return nil, &StoreError{Kind: Conflict, Point: PointQuery, Err: fmt.Errorf("stored envelope %d does not decode: %w", e.SequenceID, err)}
	}
	return envelope, nil
}
