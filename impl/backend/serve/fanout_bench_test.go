package serve_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"assay/harness/postgres/pgtest"
	. "assay/impl/backend/backendtest"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

const (
	// streamsPerConnection is below what a server advertises (API-132).
	streamsPerConnection = 90
	// fanOutWindow is how many envelopes the publisher is ahead of the slowest
	// stream: enough that none waits for the other, and no more, or the figure
	// would be of a queue.
	fanOutWindow = 8
)

// BenchmarkFanOut has one publisher and a number of streams on its topic, and
// reports what is delivered, how long one delivery takes from the call of the
// publish on, and how long the database's own NOTIFY takes from one connection
// to another at the same time. "KB/stream" is the memory of one more stream,
// that of its client included.
func BenchmarkFanOut(b *testing.B) {
	for _, n := range []int{1, 10, 100, 1000} {
		b.Run(fmt.Sprint(n, " streams"), func(b *testing.B) { fanOut(b, n) })
	}
}

func fanOut(b *testing.B, streams int) {
	backend := Start(b, pgtest.ForTest(b).URL(), Options{})
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	before := heap()
	f := &fan{sent: make([]time.Time, b.N), took: make([]time.Duration, b.N*streams), left: make([]atomic.Int64, b.N), whole: make(chan struct{}, b.N)}
	for i := range f.left {
		f.left[i].Store(int64(streams))
	}
	arrays := heap()
	var reading sync.WaitGroup
	for n := range streams {
		if n%streamsPerConnection == 0 {
			f.connect(b, backend.Address)
		}
		stream := f.open(b, ctx)
		reading.Go(func() { f.read(stream, n, streams) })
	}
	perStream := float64(heap()-before-(arrays-before)) / float64(streams) / 1024
	notified := make(chan []time.Duration, 1)
	measuring, stop := context.WithCancel(ctx)
	go func() { notified <- measureNotify(b, measuring, backend.DatabaseURL) }()

	b.ResetTimer()
	for i := range b.N {
		if i >= fanOutWindow {
			<-f.whole
		}
		f.sent[i] = time.Now()
		if _, err := backend.Publish.Publish(ctx, &backendv1.PublishRequest{Envelopes: []*backendv1.ClientEnvelope{WelcomeTo(key(0), fmt.Sprintf("%d%300d", i, 0))}}); err != nil {
			b.Fatal(err)
		}
	}
	reading.Wait()
	elapsed := b.Elapsed()
	b.StopTimer()
	stop()
	notify := <-notified
	slices.Sort(f.took)
	b.ReportMetric(float64(b.N*streams)/elapsed.Seconds(), "envelopes/s")
	b.ReportMetric(percentile(f.took, 50), "p50-ms")
	b.ReportMetric(percentile(f.took, 99), "p99-ms")
	b.ReportMetric(percentile(notify, 50), "notify-p50-ms")
	b.ReportMetric(percentile(notify, 99), "notify-p99-ms")
	b.ReportMetric(perStream, "KB/stream")
}

// fan is what a run counts.
type fan struct {
	client backendv1.SubscriptionServiceClient
	sent   []time.Time
	took   []time.Duration
	// left is how many streams have yet to get an envelope; whole hears of each
	// that all of them have.
	left  []atomic.Int64
	whole chan struct{}
}

func (f *fan) connect(b *testing.B, address string) {
	b.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := conn.Close(); err != nil {
			b.Error(err)
		}
	})
	f.client = backendv1.NewSubscriptionServiceClient(conn)
}

// open opens a stream on the topic and waits for its targets.
func (f *fan) open(b *testing.B, ctx context.Context) backendv1.SubscriptionService_SubscribeStaticClient {
	b.Helper()
	stream, err := f.client.SubscribeStatic(ctx, &backendv1.SubscribeStaticRequest{Topics: []*backendv1.TopicQuery{numbered(0, 0)}})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		b.Fatal(err)
	}
	return stream
}

// read notes when each envelope came.
func (f *fan) read(stream backendv1.SubscriptionService_SubscribeStaticClient, n, streams int) {
	for i := 0; i < len(f.sent); {
		r, err := stream.Recv()
		if err != nil {
			panic(fmt.Sprintf("stream %d: %v", n, err)) // a goroutine cannot fail a benchmark
		}
		for range r.GetMessages().GetEnvelopes() {
			f.took[i*streams+n] = time.Since(f.sent[i])
			if f.left[i].Add(-1) == 0 {
				f.whole <- struct{}{}
			}
			i++
		}
	}
}

// measureNotify measures NOTIFY until ctx ends, and once at least.
func measureNotify(b *testing.B, ctx context.Context, url string) []time.Duration {
	background := context.WithoutCancel(ctx)
	var took []time.Duration
	err := func() error {
		listener, err := pgx.Connect(background, url)
		if err != nil {
			return err
		}
		defer listener.Close(background)
		speaker, err := pgx.Connect(background, url)
		if err != nil {
			return err
		}
		defer speaker.Close(background)
		if _, err := listener.Exec(background, "LISTEN fan_out"); err != nil {
			return err
		}
		for len(took) == 0 || ctx.Err() == nil {
			began := time.Now()
			if _, err := speaker.Exec(background, "NOTIFY fan_out"); err != nil {
				return err
			}
			if _, err := listener.WaitForNotification(background); err != nil {
				return err
			}
			took = append(took, time.Since(began))
			pause := time.NewTimer(5 * time.Millisecond)
			select {
			case <-pause.C:
			case <-ctx.Done():
				pause.Stop()
			}
		}
		return nil
	}()
	if err != nil {
		b.Errorf("measuring NOTIFY: %v", err)
	}
	slices.Sort(took)
	return took
}

// percentile is in milliseconds.
func percentile(sorted []time.Duration, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return float64(sorted[min(len(sorted)-1, len(sorted)*p/100)]) / float64(time.Millisecond)
}

// heap is the memory that is in use, stacks included.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
