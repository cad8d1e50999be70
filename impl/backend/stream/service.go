package stream

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"

	"assay/impl/backend"
	"assay/impl/backend/config"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Service answers the calls of SubscriptionService. Make one with New and keep
// Run running as long as it serves. The exported fields are its parts; they must
// not change once it runs.
type Service struct {
	backendv1.UnimplementedSubscriptionServiceServer

	// Reads are what sessions read with, and Log what the feed does.
	Reads Reads
	Log   Log
	// Session makes the machine of a stream.
	Session func(Settings) Machine

	config *config.Config
	log    *slog.Logger
	feed   *Feed
	// fetches bounds the reads of all sessions together.
	fetches chan struct{}
	// wake holds a token when the feed should look before its next poll.
	wake chan struct{}
}

const (
	// fetchers is how many reads of sessions run at once.
	fetchers = 8
	// idlePoll is how often the feed looks when nobody is subscribed: often
	// enough that the first subscriber does not find much to look through.
	idlePoll = time.Second
	// patience is how long the feed may fail before the streams are told: long
	// enough for a database that restarts.
	patience = 10 * time.Second
	// retries and retryAfter are for a read whose connection was lost.
	retries    = 4
	retryAfter = 50 * time.Millisecond
)

// New returns a service on a database. The configuration is read when Run begins
// and when streams open.
func New(reads Reads, log Log, c *config.Config, logger *slog.Logger) *Service {
	return &Service{
		Reads: reads, Log: log, Session: NewSession, config: c, log: logger,
		fetches: make(chan struct{}, fetchers), wake: make(chan struct{}, 1),
		feed: NewFeed(nil),
	}
}

func (s *Service) settings() Settings {
	return Settings{Limits: s.config.Limits, Streams: s.config.Streams}
}

// Subscribe implements the bidirectional form (section 8).
func (s *Service) Subscribe(stream grpc.BidiStreamingServer[backendv1.SubscribeRequest, backendv1.SubscribeResponse]) error {
	return drive(s, bidirectional{stream}, nil)
}

// SubscribeStatic implements the static form (section 9).
func (s *Service) SubscribeStatic(request *backendv1.SubscribeStaticRequest, stream grpc.ServerStreamingServer[backendv1.SubscribeStaticResponse]) error {
	return drive(s, static{stream}, request)
}

type bidirectional struct {
	stream grpc.BidiStreamingServer[backendv1.SubscribeRequest, backendv1.SubscribeResponse]
}

func (b bidirectional) Context() context.Context                      { return b.stream.Context() }
func (b bidirectional) Send(e Encoded) error                          { return b.stream.SendMsg(e) }
func (b bidirectional) Receive() (*backendv1.SubscribeRequest, error) { return b.stream.Recv() }

type static struct {
	stream grpc.ServerStreamingServer[backendv1.SubscribeStaticResponse]
}

func (s static) Context() context.Context { return s.stream.Context() }
func (s static) Send(e Encoded) error     { return s.stream.SendMsg(e) }

// Receive is not called: the one request came with the call.
func (s static) Receive() (*backendv1.SubscribeRequest, error) {
	return nil, errors.New("a static stream has one request")
}

// read makes a read of a session. A connection that is lost is no reason to fail
// a stream, so it is tried again; reads change nothing.
func (s *Service) read(ctx context.Context, f func() error) error {
	select {
	case s.fetches <- struct{}{}:
		defer func() { <-s.fetches }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for try := 0; ; try++ {
		err := f()
		if err == nil || ctx.Err() != nil {
			return err
		}
		failed, ok := errors.AsType[*backend.StoreError](err)
		if !ok || failed.Kind != backend.Unavailable || try == retries {
			s.log.WarnContext(ctx, "a stream could not read", "error", err)
			return err
		}
		if !pause(ctx, retryAfter<<try) {
			return err
		}
	}
}

// pause waits and says whether ctx still goes on.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (s *Service) wakeFeed() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Run keeps the feed going until ctx ends: it looks when it is woken, and
// otherwise at every poll, so that a wake-up that is lost costs one interval.
func (s *Service) Run(ctx context.Context) {
	s.feed.log = s.Log
	var listening sync.WaitGroup
	defer listening.Wait()
	listening.Go(func() { s.listen(ctx) })
	poll := s.settings().pollInterval()
	healthy := time.Now()
	for ctx.Err() == nil {
		err := s.feed.Turn(ctx)
		switch {
		case err == nil:
			healthy = time.Now()
		case ctx.Err() == nil:
			s.log.WarnContext(ctx, "new envelopes could not be looked for", "error", err)
			if time.Since(healthy) > patience {
				s.feed.Lose()
			}
			pause(ctx, min(poll, time.Second))
			continue
		}
		s.wait(ctx, poll)
	}
}

// wait returns when it is time to look.
func (s *Service) wait(ctx context.Context, poll time.Duration) {
	if s.feed.Idle() {
		poll = max(poll, idlePoll)
	}
	timer := time.NewTimer(poll)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			return
		case <-s.wake:
			if !s.feed.Idle() {
				return
			}
		}
	}
}

// relisten is the pause before the feed listens again.
const relisten = 250 * time.Millisecond

// listen wakes the feed whenever the database says that something was stored.
// While it does not hear, polling goes on.
func (s *Service) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.Log.Listen(ctx, s.wakeFeed); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "not listening for new envelopes; polling goes on", "error", err)
		}
		pause(ctx, relisten)
	}
}
