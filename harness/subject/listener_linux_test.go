package subject_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"assay/harness/subject"
)

// Two runs choose the same port: the second one's subject stays alive without
// listening, and whoever asks the port is answered by the first one's.
func TestTheSubjectOfAnotherRunIsNotTakenForOurs(t *testing.T) {
	var first *subject.Process
	c := command(t, script(t, "hang.py", "{listen}"))
	c.ReadyTimeout = 2 * time.Second
	answered := false
	c.Probe = func(ctx context.Context, e subject.Endpoint) error {
		if first == nil {
			first = start(t, command(t, script(t, "serve.py", "{listen}")), subject.Values{Listen: e.Address})
		}
		err := probe(ctx, e)
		answered = answered || err == nil
		return err
	}
	p, err := c.Start(t.Context(), subject.Values{})
	if err == nil {
		t.Fatal("a subject that does not listen is ready", p.Kill())
	}
	if !answered {
		t.Fatal("the other subject did not answer, so nothing was shown")
	}
	if !errors.Is(err, subject.ErrNotReady) {
		t.Error(err)
	}
	contains(t, err.Error(), "belongs to the subject of another run", "another")
}

func TestASubjectThatListensElsewhereIsToldSo(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := l.Addr().(*net.TCPAddr)
	l.Close()
	c := command(t, "WANTED={listen}; "+script(t, "serve.py", elsewhere.String()))
	c.ReadyTimeout = 2 * time.Second
	p, err := c.Start(t.Context(), subject.Values{})
	if err == nil {
		t.Fatal("a subject that listens elsewhere is ready", p.Kill())
	}
	contains(t, err.Error(), "nothing listens there", fmt.Sprintf("its processes listen on port %d", elsewhere.Port))
}
