package front_test

import (
	"net"
	"testing"

	"golang.org/x/net/http2"
)

// API-132: a missing setting would mean no limit at all.
func TestTheStreamLimitIsAdvertised(t *testing.T) {
	address, _ := start(t, echo{})
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(http2.ClientPreface)); err != nil {
		t.Fatal(err)
	}
	framer := http2.NewFramer(conn, conn)
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	f, err := framer.ReadFrame()
	if err != nil {
		t.Fatal(err)
	}
	settings, ok := f.(*http2.SettingsFrame)
	if !ok {
		t.Fatalf("the first frame is %v", f)
	}
	if n, ok := settings.Value(http2.SettingMaxConcurrentStreams); !ok || n != 7 {
		t.Errorf("the setting is %d, present %v; want 7", n, ok)
	}
}
