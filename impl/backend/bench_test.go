package backend

import (
	"context"
	"testing"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// instant is a store that knows nothing and accepts everything at once.
type instant struct {
	Store
	Tx
	next int64
	ids  []int64
	rows []Stored
}

func (*instant) Lookup(context.Context, []Key) ([]Known, error)  { return nil, nil }
func (s *instant) Begin(context.Context) (Tx, error)             { return s, nil }
func (*instant) Lock(context.Context, []int64) error             { return nil }
func (*instant) Recheck(context.Context, []Key) ([]Known, error) { return nil, nil }
func (*instant) Commit(context.Context) error                    { return nil }
func (*instant) Rollback(context.Context)                        {}

func (s *instant) Allocate(_ context.Context, n int) ([]int64, error) {
	s.ids = s.ids[:0]
	for range n {
		s.next++
		s.ids = append(s.ids, s.next)
	}
	return s.ids, nil
}

func (s *instant) Insert(_ context.Context, rows []Row) ([]Stored, error) {
	s.rows = s.rows[:0]
	for _, r := range rows {
		s.rows = append(s.rows, Stored{SequenceID: r.SequenceID})
	}
	return s.rows, nil
}

// BenchmarkPipeline is what the code between two statements costs: exploring
// interleavings runs it a hundred thousand times a second.
func BenchmarkPipeline(b *testing.B) {
	p := testPublisher(nil)
	p.parts.Store = new(instant)
	request := &backendv1.PublishRequest{Envelopes: []*backendv1.ClientEnvelope{welcome(1, "a")}}
	batch, err := p.Prepare(request)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("prepare", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Prepare(request); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("commit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.Commit(b.Context(), batch); err != nil {
				b.Fatal(err)
			}
		}
	})
}
