package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
)

func BenchmarkOpenAPrivateServer(b *testing.B) {
	for b.Loop() {
		s, err := Open(context.Background(), Options{Sources: []Kind{Local}})
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// privateServer is a server for a benchmark.
func privateServer(b *testing.B) *Server {
	b.Helper()
	s, err := Open(context.Background(), Options{Sources: []Kind{Local}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := s.Close(); err != nil {
			b.Error(err)
		}
	})
	return s
}

func BenchmarkCreateAndDropADatabase(b *testing.B) {
	private := privateServer(b)
	given, err := Open(context.Background(), Options{URL: private.address.url.String()})
	if err != nil {
		b.Fatal(err)
	}
	defer given.Close()
	for name, s := range map[string]*Server{"private": private, "given": given} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				d, err := s.CreateDatabase(context.Background(), "bench")
				if err != nil {
					b.Fatal(err)
				}
				if err := d.Drop(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkSweepDatabases(b *testing.B) {
	s := privateServer(b)
	admin, err := s.Admin(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	defer admin.Close(context.Background())
	for _, dead := range []int{0, 10} {
		b.Run(fmt.Sprintf("%d left", dead), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				for i := range dead {
					if _, err := admin.Exec(context.Background(), fmt.Sprintf(`CREATE DATABASE assay_run_bench_%016x TEMPLATE template0`, i)); err != nil {
						b.Fatal(err)
					}
				}
				b.StartTimer()
				sweepDatabases(context.Background(), &Server{address: s.address, log: slog.New(slog.DiscardHandler)})
			}
		})
	}
}
