package chain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"go.uber.org/goleak"

	"assay/impl/identity"
)

func request(wallet common.Address, block *uint64, sig []byte) Request {
	return Request{
		Account:   identity.AccountID{Chain: "eip155:1", Address: wallet.Hex()},
		Hash:      [32]byte(crypto.Keccak256([]byte("a text"))),
		Signature: sig,
		Block:     block,
	}
}

func at(n uint64) *uint64 { return &n }

func requireOutage(t *testing.T, err error, want Trouble, code int) {
	t.Helper()
	var outage *Outage
	if !errors.As(err, &outage) {
		t.Fatalf("got %v, want an outage: %v", err, want)
	}
	if outage.Trouble != want || outage.Code != code {
		t.Fatalf("the outage is %q, want %v with code %d", outage, want, code)
	}
}

// counted serves next and counts the requests.
func counted(t *testing.T, next http.Handler) (url string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		next.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, requests
}

func TestTheBlockDecides(t *testing.T) {
	c := newTestChain(t)
	v := newVerifier(t, c.url, 10)
	sig := make([]byte, 65)
	before := c.head(t)
	ask := func(block *uint64) Verdict {
		t.Helper()
		verdict, err := v.Verify(t.Context(), request(toggleWallet, block, sig))
		if err != nil {
			t.Fatal(err)
		}
		return verdict
	}
	if got := ask(nil); got != (Verdict{true, before}) {
		t.Errorf("the newest block says %+v before the toggle", got)
	}
	c.send(t, toggleWallet, nil)
	after := c.head(t)
	if got := ask(nil); got != (Verdict{false, after}) {
		t.Errorf("the newest block says %+v after the toggle", got)
	}
	if got := ask(&before); got != (Verdict{true, before}) {
		t.Errorf("the old block says %+v", got)
	}
	if got := ask(&after); got != (Verdict{false, after}) {
		t.Errorf("the new block says %+v", got)
	}
	_, err := v.Verify(t.Context(), request(toggleWallet, at(after+1000), sig))
	requireOutage(t, err, CallFailed, -32000)
	_, err = v.Verify(t.Context(), request(toggleWallet, at(1<<63), sig))
	var outage *Outage
	if !errors.As(err, &outage) {
		t.Errorf("a block beyond 63 bits says %v", err)
	}
}

func TestVerdictsAtNumberedBlocksAreKept(t *testing.T) {
	c := newTestChain(t)
	url, requests := counted(t, forward(c.backend.Client()))
	v := newVerifier(t, url, 2)
	sig := func(b byte) []byte { return append([]byte{b}, make([]byte, 64)...) }
	step := func(name string, r Request, valid bool, wantRequests int64) {
		t.Helper()
		before := requests.Load()
		verdict, err := v.Verify(t.Context(), r)
		if err != nil || verdict.Valid != valid {
			t.Fatalf("%s: got %+v, %v", name, verdict, err)
		}
		if got := requests.Load() - before; got != wantRequests {
			t.Fatalf("%s: the node got %d requests, want %d", name, got, wantRequests)
		}
	}
	step("the first time the node is asked", request(yesWallet, at(1), sig(1)), true, 1)
	step("the second time it is not", request(yesWallet, at(1), sig(1)), true, 0)
	lower := request(yesWallet, at(1), sig(1))
	lower.Account.Address = strings.ToLower(lower.Account.Address)
	step("another spelling of the address is the same wallet", lower, true, 0)
	step("another block is another question", request(yesWallet, at(0), sig(1)), true, 1)
	step("a no is kept too", request(noWallet, at(1), sig(1)), false, 1)
	step("and comes from the cache", request(noWallet, at(1), sig(1)), false, 0)
	step("the oldest entry had to go", request(yesWallet, at(1), sig(1)), true, 1)
	step("another signature is another question", request(yesWallet, at(1), sig(2)), true, 1)
	otherHash := request(yesWallet, at(1), sig(2))
	otherHash.Hash[0]++
	step("another hash is another question", otherHash, true, 1)
	step("the newest block takes two requests", request(yesWallet, nil, sig(2)), true, 2)
	step("every time", request(yesWallet, nil, sig(2)), true, 2)

	before := requests.Load()
	for range 2 {
		_, err := v.Verify(t.Context(), request(deafWallet, at(1), sig(1)))
		requireOutage(t, err, CallFailed, 3)
	}
	if got := requests.Load() - before; got != 2 {
		t.Errorf("an outage was kept: %d requests for 2 questions", got)
	}
}

func TestAKeptVerdictOutlivesItsNode(t *testing.T) {
	c := newTestChain(t)
	server := httptest.NewServer(forward(c.backend.Client()))
	v := newVerifier(t, server.URL, 10)
	kept := request(yesWallet, at(1), make([]byte, 65))
	if _, err := v.Verify(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	server.Close()
	if verdict, err := v.Verify(t.Context(), kept); err != nil || !verdict.Valid {
		t.Errorf("got %+v, %v", verdict, err)
	}
	_, err := v.Verify(t.Context(), request(yesWallet, nil, make([]byte, 65)))
	requireOutage(t, err, Unreachable, 0)
}

func TestRoutesAreChosenByTextAlone(t *testing.T) {
	c := newTestChain(t)
	v, err := New(Config{Routes: map[string]string{"eip155:31337": c.url, "eip155:5": c.url}, Timeout: testTimeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	if got := v.Chains(); !slices.Equal(got, []string{"eip155:31337", "eip155:5"}) {
		t.Errorf("chains are %v", got)
	}
	r := request(yesWallet, nil, make([]byte, 65))
	for chain, routed := range map[string]bool{
		"eip155:31337": true, "eip155:5": true, "eip155:1": false, "eip155:05": false, "cosmos:cosmoshub-4": false, "eip155:1337": false,
	} {
		r.Account.Chain = chain
		_, err := v.Verify(t.Context(), r)
		if routed && err != nil {
			t.Errorf("%s: %v", chain, err)
		}
		if !routed {
			requireOutage(t, err, NoRoute, 0)
		}
	}
}

func TestAnAddressThatIsNoneIsNoOutage(t *testing.T) {
	url, requests := counted(t, http.NotFoundHandler())
	v := newVerifier(t, url, 0)
	for _, address := range []string{"0xaa", strings.Repeat("a", 40), "0x" + strings.Repeat("g", 40), "0X" + strings.Repeat("a", 40), "0x" + strings.Repeat("a", 42)} {
		r := request(yesWallet, nil, nil)
		r.Account.Address = address
		if _, err := v.Verify(t.Context(), r); !errors.Is(err, ErrNotAnAddress) {
			t.Errorf("%s: got %v", address, err)
		}
		if valid, err := v.VerifyWallet(t.Context(), identity.WalletClaim{Account: r.Account}); valid || err != nil {
			t.Errorf("%s: got %v, %v", address, valid, err)
		}
		r.Account.Chain = "eip155:2"
		_, err := v.Verify(t.Context(), r)
		requireOutage(t, err, NoRoute, 0)
	}
	if requests.Load() != 0 {
		t.Errorf("the node got %d requests", requests.Load())
	}
}

func TestABatchKeepsOrderAndEndsAtTheFirstError(t *testing.T) {
	c := newTestChain(t)
	url, requests := counted(t, forward(c.backend.Client()))
	v := newVerifier(t, url, 0)
	sig := make([]byte, 65)
	head := c.head(t)
	verdicts, err := v.VerifyAll(t.Context(), []Request{
		request(yesWallet, at(1), sig), request(noWallet, nil, sig), request(yesWallet, nil, sig),
	})
	if want := []Verdict{{true, 1}, {false, head}, {true, head}}; err != nil || !slices.Equal(verdicts, want) {
		t.Errorf("got %v, %v; want %v", verdicts, err, want)
	}
	if verdicts, err := v.VerifyAll(t.Context(), nil); err != nil || len(verdicts) != 0 {
		t.Errorf("no requests give %v, %v", verdicts, err)
	}
	before := requests.Load()
	verdicts, err = v.VerifyAll(t.Context(), []Request{
		request(yesWallet, at(1), sig), request(deafWallet, at(1), sig), request(yesWallet, at(1), sig),
	})
	requireOutage(t, err, CallFailed, 3)
	if verdicts != nil || requests.Load()-before != 2 {
		t.Errorf("got %v after %d requests", verdicts, requests.Load()-before)
	}
}

func TestRequestsOfCallersAreChecked(t *testing.T) {
	hash := make([]byte, 32)
	if r, err := NewRequest("eip155:1:0xAA", at(7), hash, []byte{1}); err != nil || r.Account.Address != "0xAA" || *r.Block != 7 {
		t.Errorf("got %+v, %v", r, err)
	}
	for name, c := range map[string]struct {
		account string
		hash    []byte
	}{
		"an account of two parts": {"eip155:1", hash},
		"a hash of 31 bytes":      {"eip155:1:0xaa", hash[:31]},
		"a hash of 33 bytes":      {"eip155:1:0xaa", append(hash, 0)},
		"no hash":                 {"eip155:1:0xaa", nil},
	} {
		if r, err := NewRequest(c.account, nil, c.hash, nil); err == nil {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}

func TestConfigurationThatCannotWorkIsRefusedWithoutShowingTheURL(t *testing.T) {
	const token = "s3cret"
	for name, c := range map[string]Config{
		"no timeout":              {},
		"a negative cache":        {Timeout: 1, CacheEntries: -1},
		"a URL of another scheme": {Timeout: 1, Routes: map[string]string{"eip155:1": "ftp://host/" + token}},
		"a URL without a host":    {Timeout: 1, Routes: map[string]string{"eip155:1": "http:///" + token}},
		"a URL that is none":      {Timeout: 1, Routes: map[string]string{"eip155:1": "http://host/%zz" + token}},
		"a port that is none":     {Timeout: 1, Routes: map[string]string{"eip155:1": "http://host:" + token}},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := New(c)
			if err == nil {
				v.Close()
				t.Fatal("accepted")
			}
			if strings.Contains(err.Error(), token) {
				t.Errorf("the message shows the token: %v", err)
			}
		})
	}
}

// answer serves one fixed answer; ID in it stands for the id of the question.
func answer(status int, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		question, _ := io.ReadAll(r.Body)
		_, rest, _ := strings.Cut(string(question), `"id":`)
		id, _, _ := strings.Cut(rest, ",")
		w.WriteHeader(status)
		io.WriteString(w, strings.ReplaceAll(body, "ID", id))
	})
}

func TestHostileAnswersAreNoVerdict(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":ID,"result":"0x01"}`
	const token = "s3cret"
	for _, c := range []struct {
		name     string
		handler  http.Handler
		trouble  Trouble // 0: a verdict
		code     int
		requests int64
	}{
		{name: "a good answer is a verdict", handler: answer(200, good), requests: 1},
		{name: "a good answer among members nobody asked for is a verdict", handler: answer(200, `{"x":[{"id":2}],"jsonrpc":"2.0","id":ID,"result":"0x01"}`), requests: 1},
		{"garbage", answer(200, "<html>"), BadAnswer, 0, 1},
		{"nothing", answer(200, ""), BadAnswer, 0, 1},
		{"an array", answer(200, "["+good+"]"), BadAnswer, 0, 1},
		{"half an answer", answer(200, good[:20]), BadAnswer, 0, 1},
		{"something after the answer", answer(200, good+good), BadAnswer, 0, 1},
		{"another id", answer(200, `{"jsonrpc":"2.0","id":ID0,"result":"0x01"}`), BadAnswer, 0, 1},
		{"the id as a string", answer(200, `{"jsonrpc":"2.0","id":"ID","result":"0x01"}`), BadAnswer, 0, 1},
		{"no id", answer(200, `{"jsonrpc":"2.0","result":"0x01"}`), BadAnswer, 0, 1},
		{"an id of null", answer(200, `{"jsonrpc":"2.0","id":null,"result":"0x01"}`), BadAnswer, 0, 1},
		{"no result", answer(200, `{"jsonrpc":"2.0","id":ID}`), BadAnswer, 0, 1},
		{"a result of null", answer(200, `{"jsonrpc":"2.0","id":ID,"result":null}`), BadAnswer, 0, 1},
		{"a result that is a number", answer(200, `{"jsonrpc":"2.0","id":ID,"result":1}`), BadAnswer, 0, 1},
		{"a result that is true", answer(200, `{"jsonrpc":"2.0","id":ID,"result":true}`), BadAnswer, 0, 1},
		{"an empty result", answer(200, `{"jsonrpc":"2.0","id":ID,"result":"0x"}`), BadAnswer, 0, 1},
		{"a result without 0x", answer(200, `{"jsonrpc":"2.0","id":ID,"result":"01"}`), BadAnswer, 0, 1},
		{"a result of two", answer(200, `{"jsonrpc":"2.0","id":ID,"result":"0x02"}`), BadAnswer, 0, 1},
		{"a result of a word", answer(200, `{"jsonrpc":"2.0","id":ID,"result":"0x`+strings.Repeat("0", 63)+`1"}`), BadAnswer, 0, 1},
		{"a huge answer", answer(200, `{"jsonrpc":"2.0","id":ID,"result":"0x01","x":"`+strings.Repeat("x", maxAnswer)+`"}`), BadAnswer, 0, 1},
		{"an answer that never ends", http.HandlerFunc(endless), BadAnswer, 0, 1},
		{"an error beside a result", answer(200, `{"jsonrpc":"2.0","id":ID,"result":"0x01","error":{"code":-5,"message":"`+token+`"}}`), CallFailed, -5, 1},
		{"an error with an endless text", answer(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":3,"message":"`+token+strings.Repeat("x", 10000)+`","data":"0x08c379a0"}}`), CallFailed, 3, 1},
		{"too many requests", answer(429, token), HTTPFailure, 429, 1},
		{"unauthorized", answer(401, token), HTTPFailure, 401, 1},
		{"a redirect", http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect), HTTPFailure, 307, 1},
		{"a gateway that lost its node is asked twice", answer(502, token), HTTPFailure, 502, 2},
		{"a node that is starting is asked twice", answer(503, token), HTTPFailure, 503, 2},
		{"a connection that breaks is tried twice", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), Unreachable, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, requests := counted(t, c.handler)
			v := newVerifier(t, url+"/"+token, 10)
			verdict, err := v.Verify(t.Context(), request(yesWallet, at(1), make([]byte, 65)))
			if c.trouble == 0 {
				if err != nil || !verdict.Valid {
					t.Fatalf("got %+v, %v", verdict, err)
				}
			} else {
				requireOutage(t, err, c.trouble, c.code)
				if text := err.Error(); len(text) > 200 || strings.Contains(text, token) || strings.Contains(text, "127.0.0.1") {
					t.Errorf("the message is %q", text)
				}
				if unwrapped := errors.Unwrap(err); unwrapped != nil {
					t.Errorf("the message hides %q", unwrapped)
				}
			}
			if requests.Load() != c.requests {
				t.Errorf("the node got %d requests, want %d", requests.Load(), c.requests)
			}
			if v.cache.Len() != map[bool]int{true: 1}[c.trouble == 0] {
				t.Errorf("%d verdicts are kept", v.cache.Len())
			}
		})
	}
}

func endless(w http.ResponseWriter, _ *http.Request) {
	for {
		if _, err := io.WriteString(w, strings.Repeat(" ", 4096)); err != nil {
			return
		}
	}
}

func TestASecondTryCanSucceed(t *testing.T) {
	var requests atomic.Int64
	good := answer(200, `{"jsonrpc":"2.0","id":ID,"result":"0x01"}`)
	url, _ := counted(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 {
			panic(http.ErrAbortHandler)
		}
		good.ServeHTTP(w, r)
	}))
	v := newVerifier(t, url, 0)
	if verdict, err := v.Verify(t.Context(), request(yesWallet, at(1), make([]byte, 65))); err != nil || !verdict.Valid {
		t.Errorf("got %+v, %v", verdict, err)
	}
}

func TestANodeThatHangsIsLeftInTime(t *testing.T) {
	for name, headers := range map[string]bool{"before its answer": false, "within its answer": true} {
		t.Run(name, func(t *testing.T) {
			url, requests := counted(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if headers {
					fmt.Fprint(w, `{"jsonrpc":`)
					w.(http.Flusher).Flush()
				}
				<-r.Context().Done()
			}))
			v, err := New(Config{Routes: map[string]string{"eip155:1": url}, Timeout: 50 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			defer v.Close()
			_, err = v.Verify(t.Context(), request(yesWallet, at(1), make([]byte, 65)))
			requireOutage(t, err, TimedOut, 0)
			if requests.Load() != 1 {
				t.Errorf("the node got %d requests, want 1: waiting again would double the wait", requests.Load())
			}
		})
	}
	t.Run("when the caller leaves first, the error says so", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		url, _ := counted(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done()
		}))
		v := newVerifier(t, url, 0)
		_, err := v.Verify(ctx, request(yesWallet, at(1), make([]byte, 65)))
		requireOutage(t, err, GivenUp, 0)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the cause is lost: %v", err)
		}
	})
}

func TestAClosedVerifierLeavesNothingBehind(t *testing.T) {
	existing := goleak.IgnoreCurrent()
	server := httptest.NewServer(answer(200, `{"jsonrpc":"2.0","id":ID,"result":"0x00"}`))
	v, err := New(Config{Routes: map[string]string{"eip155:1": server.URL}, Timeout: testTimeout, CacheEntries: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(t.Context(), request(yesWallet, at(1), make([]byte, 65))); err != nil {
		t.Fatal(err)
	}
	v.Close()
	server.Close()
	goleak.VerifyNone(t, existing)
}
