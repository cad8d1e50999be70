package chain

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/rpc"
)

// node is the route to one chain.
type node struct {
	chain     string
	client    *rpc.Client
	transport *http.Transport
	timeout   time.Duration
}

// maxAnswer bounds an answer in bytes. A good one has some sixty; an error may
// carry the data of a revert.
const maxAnswer = 64 << 10

func newNode(chain, address string, timeout time.Duration) (*node, error) {
	// The URL may hold a token and the parser's error repeats it: say neither.
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the RPC URL of chain %+q is not an http or https URL with a host", chain)
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: maxAnswer,
		ForceAttemptHTTP2:      true,
	}
	client, err := rpc.DialOptions(context.Background(), address, rpc.WithHTTPClient(&http.Client{
		Transport: guard{transport},
		// A redirect would carry the question, and a token in the path, elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}))
	if err != nil {
		return nil, fmt.Errorf("the RPC URL of chain %+q cannot be used", chain)
	}
	return &node{chain, client, transport, timeout}, nil
}

func (n *node) close() {
	n.client.Close()
	n.transport.CloseIdleConnections()
}

// newest asks for the number of the newest block.
func (n *node) newest(ctx context.Context) (uint64, error) {
	var number hexutil.Uint64
	err := n.call(ctx, &number, "eth_blockNumber")
	return uint64(number), err
}

// ask runs the validator at a block. The recipient is left out, so that the
// node runs the data as a program.
func (n *node) ask(ctx context.Context, data []byte, block uint64) (bool, error) {
	var answer hexutil.Bytes
	question := struct {
		Data hexutil.Bytes `json:"data"`
	}{data}
	if err := n.call(ctx, &answer, "eth_call", question, hexutil.EncodeUint64(block)); err != nil {
		return false, err
	}
	if len(answer) != 1 || answer[0] > 1 {
		return false, &Outage{Chain: n.chain, Trouble: BadAnswer}
	}
	return answer[0] == 1, nil
}

// call makes one JSON-RPC call. A connection that broke is tried once more at
// once, since an idle one may have been closed by the node just now, and so is
// a gateway that lost its node; everything else would only fail again.
func (n *node) call(ctx context.Context, result any, method string, args ...any) error {
	outage, again := n.attempt(ctx, result, method, args...)
	if outage != nil && again {
		outage, _ = n.attempt(ctx, result, method, args...)
	}
	if outage != nil {
		return outage
	}
	return nil
}

func (n *node) attempt(ctx context.Context, result any, method string, args ...any) (outage *Outage, again bool) {
	timed, cancel := context.WithTimeout(ctx, n.timeout)
	defer cancel()
	err := n.client.CallContext(timed, result, method, args...)
	if err == nil {
		return nil, false
	}
	o := &Outage{Chain: n.chain}
	var (
		status  rpc.HTTPError
		refused rpc.Error
		broken  *url.Error
	)
	switch {
	case ctx.Err() != nil:
		o.Trouble, o.cause = GivenUp, ctx.Err()
	case timed.Err() != nil:
		o.Trouble = TimedOut
	case errors.As(err, &status):
		o.Trouble, o.Code = HTTPFailure, status.StatusCode
		again = o.Code == http.StatusBadGateway || o.Code == http.StatusServiceUnavailable || o.Code == http.StatusGatewayTimeout
	case errors.As(err, &refused):
		o.Trouble, o.Code = CallFailed, refused.ErrorCode()
	case errors.As(err, &broken) && !errors.Is(err, errAnswer):
		o.Trouble, again = Unreachable, true
	default:
		o.Trouble = BadAnswer
	}
	return o, again
}

// errAnswer marks an answer that the guard refused.
var errAnswer = errors.New("not an answer to the question")

// guard stands under the RPC client, which would read an answer of any length
// and accept one with any id.
type guard struct {
	next http.RoundTripper
}

// RoundTrip reads the whole answer, bounded, and compares its id.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := g.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("%w: longer than %d bytes", errAnswer, maxAnswer)
	}
	if response.StatusCode/100 == 2 {
		asked, err := requestID(r)
		if err != nil {
			return nil, err
		}
		var envelope struct {
			ID json.RawMessage `json:"id"`
		}
		if json.Unmarshal(body, &envelope) != nil || !bytes.Equal(envelope.ID, asked) {
			return nil, fmt.Errorf("%w: no JSON object with its id", errAnswer)
		}
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	return response, nil
}

// requestID reads the id of the question from a second copy of its body.
func requestID(r *http.Request) (json.RawMessage, error) {
	if r.GetBody == nil {
		return nil, fmt.Errorf("%w: the question cannot be read again", errAnswer)
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	defer body.Close()
	var envelope struct {
		ID json.RawMessage `json:"id"`
	}
	if err := json.NewDecoder(body).Decode(&envelope); err != nil {
		return nil, err
	}
	return envelope.ID, nil
}
