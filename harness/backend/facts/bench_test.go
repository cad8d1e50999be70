package facts_test

import (
	"fmt"
	"testing"

	"assay/harness/backend/facts"
	"assay/model"
	rules "assay/model/backend"
)

// delivered is a history of subscriptions of many topics each, all of which
// receive every row of them, some in a frame.
func delivered(streams, topics, rowsEach int) (events []model.Event, rows int) {
	const inFrame = 8
	s := newStory(true)
	var subs []sub
	var all []rules.Asked
	var heads []rules.Target
	logs := make([]rules.Log, topics)
	for k := range logs {
		logs[k] = group(fmt.Sprint("g", k))
		all, heads = append(all, from(logs[k], 0)), append(heads, through(logs[k], 0))
	}
	for range streams {
		x := s.subscribe()
		x.update(1, all)
		x.applied(1, heads...)
		subs = append(subs, x)
	}
	id := uint64(1)
	for n := range rowsEach {
		for k := 0; k < topics; k += inFrame {
			var frame []rules.Row
			for m := k; m < min(k+inFrame, topics); m++ {
				i := item{log: logs[m], content: fmt.Sprint(n)}
				s.whole(publish(i), published(i.meta(id)))
				frame = append(frame, i.row(id))
				id++
			}
			for _, x := range subs {
				x.bulk(frame)
				rows += len(frame)
			}
		}
	}
	return s.events, rows
}

// bulk delivers rows without a look for the actor.
func (x sub) bulk(rows []rules.Row) {
	x.add(model.Event{Phase: model.Receive, Actor: fmt.Sprint("actor", x.call), Call: x.call, Value: &rules.Response{Messages: &rules.Messages{Rows: rows}}})
}

// BenchmarkRows judges the rows of 50 subscriptions of 200 topics. The aim is 1 µs
// and 200 bytes a row, publishes and all.
func BenchmarkRows(b *testing.B) {
	events, rows := delivered(50, 200, 20)
	for _, c := range []struct {
		name  string
		judge func([]model.Event) model.Judged
	}{{"facts", facts.Judge}, {"model", rules.Judge}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if j := c.judge(events); len(j.Breaches()) > 0 {
					b.Fatal(j.Breaches()[0])
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
		})
	}
}
