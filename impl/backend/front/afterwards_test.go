package front

import (
	"context"
	"testing"
)

func TestWhatRunsAfterAContextIsWaitedFor(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun, release, ended := make(chan struct{}), make(chan struct{}), false
	wait := afterwards(ctx, func() {
		close(begun)
		<-release
		ended = true
	})
	cancel()
	<-begun
	waited := make(chan bool)
	go func() {
		wait()
		waited <- ended
	}()
	select {
	case <-waited:
		t.Fatal("it was not waited for")
	default:
	}
	close(release)
	if !<-waited {
		t.Error("the wait ended before what it waited for")
	}
}

func TestWhatIsNotWantedAnyMoreDoesNotRun(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ran := false
	afterwards(ctx, func() { ran = true })()
	cancel()
	if ran {
		t.Error("it ran")
	}
}
