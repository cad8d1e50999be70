package wire

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/harness/subject"
	"assay/model/backend"
)

// DefaultMaxReceive is the longest response message a client takes, in bytes. It
// is well above the 25 MiB of API-134, so that a subject that sends more is seen
// to do it.
const DefaultMaxReceive = 64 << 20

// Paths of the calls.
const (
	publishPath       = "/xmtp.backend.v1.PublishService/Publish"
	queryPath         = "/xmtp.backend.v1.QueryService/Query"
	newestPath        = "/xmtp.backend.v1.QueryService/QueryNewest"
	configurationPath = "/xmtp.backend.v1.ConfigurationService/GetConfiguration"
	subscribePath     = "/xmtp.backend.v1.SubscriptionService/Subscribe"
	staticPath        = "/xmtp.backend.v1.SubscriptionService/SubscribeStatic"
	healthPath        = "/grpc.health.v1.Health/Check"
)

// Options tune a client. The zero value is the usual one.
type Options struct {
	// Header is sent with every call, beside the endpoint's own.
	Header map[string][]string
	// MaxReceive is the longest response message in bytes; 0 is DefaultMaxReceive.
	MaxReceive int
	// WebHTTP2 carries gRPC-Web calls over HTTP/2 in place of HTTP/1.1. Native
	// calls go over HTTP/2 anyway.
	WebHTTP2 bool
}

// Header is one header of one call.
type Header struct{ Name, Value string }

// Client makes calls to one endpoint. Native gRPC shares one connection between
// all calls, and calls above the peer's stream limit wait (API-132); gRPC-Web
// opens as many as it needs. A lost connection is replaced by the next call. A
// call waits for its answer as long as its context lets it, so that one should
// have a deadline. A Client is safe for concurrent use.
type Client struct {
	endpoint   subject.Endpoint
	header     map[string][]string
	maxReceive int
	web        bool
	webHTTP2   bool
	conns      *connections
	transport  transport
	streams    *pool
	seen       *interner
}

// Dial returns a client of the endpoint. It opens no connection: the first call
// does. Close ends the connections of a client that is no longer needed.
func Dial(e subject.Endpoint, o Options) (*Client, error) {
	c := &Client{endpoint: e, maxReceive: o.MaxReceive, webHTTP2: o.WebHTTP2, conns: &connections{}, seen: &interner{}}
	switch e.Scheme {
	case "grpc", "grpcs":
	case "http", "https":
		c.web = true
	default:
		return nil, fmt.Errorf("endpoint scheme %q is unknown: use grpc, grpcs, http or https", bounded(e.Scheme))
	}
	if _, _, err := net.SplitHostPort(e.Address); err != nil {
		return nil, fmt.Errorf("endpoint address %q is not host:port", bounded(e.Address))
	}
	if c.maxReceive <= 0 {
		c.maxReceive = DefaultMaxReceive
	}
	c.header = make(map[string][]string)
	for _, h := range []map[string][]string{e.Header, o.Header} {
		for name, values := range h {
			c.header[name] = append(c.header[name], values...)
		}
	}
	c.transport = c.newTransport()
	c.streams = newPool(c.dialNative)
	return c, nil
}

// Web is the form of gRPC-Web that carries unary calls and static subscriptions.
func (c *Client) Web() backend.Web {
	switch {
	case !c.web:
		return backend.Native
	case c.webHTTP2:
		return backend.WebHTTP2
	default:
		return backend.WebHTTP1
	}
}

func (c *Client) secure() bool { return c.endpoint.Scheme == "grpcs" || c.endpoint.Scheme == "https" }

// tlsConfig is the endpoint's configuration, offering the given protocols.
func (c *Client) tlsConfig(protocols ...string) *tls.Config {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.endpoint.TLS != nil {
		config = c.endpoint.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName, _, _ = net.SplitHostPort(c.endpoint.Address)
	}
	config.NextProtos = protocols
	return config
}

// Close ends all connections. Calls that run lose their answer.
func (c *Client) Close() error {
	c.conns.close()
	c.transport.CloseIdleConnections()
	return nil
}

// Publish sends an encoded PublishRequest.
func (c *Client) Publish(ctx context.Context, request []byte, header ...Header) backend.Return {
	return c.call(ctx, publishPath, request, header, decodePublish)
}

// Query sends an encoded QueryRequest.
func (c *Client) Query(ctx context.Context, request []byte, header ...Header) backend.Return {
	return c.call(ctx, queryPath, request, header, decodeQuery)
}

// Newest sends an encoded QueryNewestRequest.
func (c *Client) Newest(ctx context.Context, request []byte, header ...Header) backend.Return {
	return c.call(ctx, newestPath, request, header, decodeNewest)
}

// Configuration asks what the subject publishes about itself.
func (c *Client) Configuration(ctx context.Context, header ...Header) backend.Return {
	return c.call(ctx, configurationPath, nil, header, decodeConfiguration)
}

// Health asks the standard health service about a service, "" for the whole.
func (c *Client) Health(ctx context.Context, service string, header ...Header) backend.Return {
	return c.call(ctx, healthPath, healthRequest(service), header, decodeHealth)
}

// Other calls any path, "/package.Service/Method", and does not decode the
// response. It is for calls that the specification retired or never had.
func (c *Client) Other(ctx context.Context, path string, body []byte, header ...Header) backend.Return {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return c.call(ctx, path, body, header, func(*backend.Return, []byte) error { return nil })
}

// PublishAndCut publishes on a connection of its own and cuts it when the first
// byte of the response message arrives, or the end of a response without one: the
// subject has decided, and its client never learns what (API-037). Headers alone
// do not cut, for some servers send them before they decide. The return is then
// Lost with LostCut. A publish without a response is lost as with Publish.
func (c *Client) PublishAndCut(ctx context.Context, request []byte, header ...Header) backend.Return {
	one := *c
	one.conns = &connections{}
	one.transport = one.newTransport()
	defer one.Close()
	resp, err := one.transport.RoundTrip(one.request(publishPath, request, header).WithContext(ctx))
	if err != nil {
		return backend.Return{Lost: lost(ctx, err).lost}
	}
	var first [1]byte
	if _, err = full(resp.Body, first[:]); err == nil || err == io.EOF {
		return backend.Return{Lost: backend.LostCut}
	}
	return backend.Return{Lost: lost(ctx, err).lost}
}

// call makes one call. decode fills in the part of the return that the response
// message has.
func (c *Client) call(ctx context.Context, path string, request []byte, header []Header, decode func(*backend.Return, []byte) error) backend.Return {
	a := c.exchange(ctx, path, request, header)
	if a.lost != backend.Answered {
		return backend.Return{Lost: a.lost}
	}
	r := backend.Return{Code: a.code, Text: a.text, Details: a.details, Garbled: a.garbled, WireLen: a.wireLen}
	if a.code != backend.OK || a.garbled != "" {
		return r
	}
	if err := decode(&r, a.message); err != nil {
		r = backend.Return{Code: a.code, Text: a.text, Garbled: bounded(err.Error()), WireLen: a.wireLen}
	}
	return r
}

func healthRequest(service string) []byte {
	if service == "" {
		return nil
	}
	return protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), service)
}

// probePatience bounds a probe whose context does not.
const probePatience = 10 * time.Second

// Probe asks once whether anything that speaks the protocol answers at the
// endpoint. Any gRPC status counts, also that the health service is missing or
// the call unimplemented: what a subject answers is a finding, not a failure to
// start. A web page, a TLS mismatch, a refused or silent connection do not count;
// the error says which it was. Probe waits at most ten seconds.
func Probe(ctx context.Context, e subject.Endpoint) error {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	c, err := Dial(e, Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	a := c.exchange(ctx, healthPath, nil, nil)
	switch {
	case a.hasStatus:
		return nil
	case a.lost != backend.Answered:
		return fmt.Errorf("%s://%s gives no answer: %s: %s", e.Scheme, e.Address, a.lost, a.why)
	default:
		return fmt.Errorf("%s://%s answers, but not in gRPC: %s", e.Scheme, e.Address, a.garbled)
	}
}
