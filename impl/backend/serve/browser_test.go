package serve_test

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"assay/harness/postgres/pgtest"
	. "assay/impl/backend/backendtest"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// browsers are the names under which Chromium is installed.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "headless-shell"}

// seen is what testdata/browser.html reports.
type seen struct {
	Publish, Query, Refused, Unknown map[string]any
	Metas                            int
	Rows, Streamed, Frames           []string
	Keepalive                        int
	Failed                           string
}

// API-160: a page of another origin publishes, queries and gets a static
// subscription, and reads statuses, their details included.
func TestAPageInABrowserPublishesQueriesAndSubscribes(t *testing.T) {
	var browser string
	for _, name := range browsers {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Fatalf("no browser: install one of %s (Debian: apt-get install chromium)", strings.Join(browsers, ", "))
	}
	b := Start(t, pgtest.ForTest(t).URL(), Options{})
	page := httptest.NewServer(http.FileServer(http.Dir("testdata")))
	defer page.Close()

	ctx, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(browser), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))...)
	defer stop()
	ctx, end := chromedp.NewContext(ctx)
	defer end()
	if _, err := chromedp.Run(ctx, chromedp.Navigate(page.URL+"/browser.html")); err != nil {
		t.Fatal(err)
	}
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	got, err := chromedp.Run(limited, chromedp.Evaluate[seen](fmt.Sprintf("run(%q, 77)", "http://"+b.Address), chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Cancel(ctx); err != nil {
		t.Error(err)
	}
	if got.Publish["grpc-status"] != "0" || got.Metas != 2 {
		t.Errorf("publish: %v with %d metadata entries", got.Publish, got.Metas)
	}
	if got.Query["grpc-status"] != "0" || !reflect.DeepEqual(got.Rows, []string{"one", "two"}) {
		t.Errorf("query: %v with %q", got.Query, got.Rows)
	}
	if got.Refused["grpc-status"] != "3" || !refusedWithDetail(t, got.Refused) {
		t.Errorf("a bad publish: %v", got.Refused)
	}
	if got.Unknown["grpc-status"] != "12" {
		t.Errorf("an unknown method: %v", got.Unknown)
	}
	if !reflect.DeepEqual(got.Streamed, []string{"one", "two", "three"}) || got.Frames[0] != "started" || got.Keepalive != 30_000 || got.Failed != "" {
		t.Errorf("subscription: %+v", got)
	}
}

// refusedWithDetail reports whether the page could read the PublishError.
func refusedWithDetail(t *testing.T, trailers map[string]any) bool {
	t.Helper()
	encoded, _ := trailers["grpc-status-details-bin"].(string)
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	if err != nil {
		t.Error(err)
		return false
	}
	s := new(status.Status)
	if err := proto.Unmarshal(data, s); err != nil || len(s.Details) != 1 {
		t.Errorf("details %q: %v", encoded, err)
		return false
	}
	detail := new(backendv1.PublishError)
	return s.Details[0].UnmarshalTo(detail) == nil && detail.GetReason() == backendv1.PublishError_REASON_MALFORMED_PAYLOAD
}
