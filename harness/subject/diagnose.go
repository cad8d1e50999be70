package subject

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Fault is what keeps a peer from answering the protocol.
type Fault int

// The faults that Diagnose tells apart.
const (
	FaultInvalid       Fault = iota
	FaultUnresolved          // the host name has no address
	FaultUnreachable         // nothing accepts a connection there
	FaultSilent              // it accepts and sends nothing, also not to a second protocol
	FaultClosed              // it accepts and closes without a byte
	FaultPlain               // spoken to with TLS, but it is plain
	FaultTLS                 // spoken to plainly, but it wants TLS
	FaultAuthority           // its certificate is signed by nobody we trust
	FaultName                // its certificate is for other names
	FaultCertificate         // its certificate is expired or otherwise invalid
	FaultClientRefused       // it refuses our certificate, or that we show none
	FaultHandshake           // TLS fails for another reason
	FaultHTTP                // an HTTP/1 answer instead of the protocol
	FaultProtocol            // the transport works, the answer is not the protocol's
	FaultGarbage             // bytes that are neither HTTP nor TLS
	FaultUnknown             // the time was up before a reason was found
)

// passing says whether waiting a little may cure the fault.
func (f Fault) passing() bool {
	return f == FaultUnreachable || f == FaultSilent || f == FaultClosed
}

// Diagnosis is why a peer does not answer, with a hint for the user.
type Diagnosis struct {
	Endpoint Endpoint
	Fault    Fault
	// What says what was seen: one line, foreign bytes escaped and bounded.
	What string
	// Hint says what to do.
	Hint string
	// Cause is the failure of the probe; its text is repeated only where What
	// cannot explain it. It may hold secrets: print the Diagnosis, not the Cause.
	Cause error
}

func (d *Diagnosis) Error() string {
	text := fmt.Sprintf("%s %s", d.Endpoint, d.What)
	if d.Fault == FaultProtocol || d.Fault == FaultHandshake || d.Fault == FaultUnknown {
		text += ": " + escape([]byte(d.Endpoint.mask(d.Cause.Error())), 600)
	}
	return text + "; hint: " + d.Hint
}

// Unwrap gives the probe's failure.
func (d *Diagnosis) Unwrap() error { return d.Cause }

const (
	diagnosisTimeout = 5 * time.Second // of all steps together, when the caller sets none
	stepTimeout      = 2 * time.Second // of one step: far above a round trip, low enough to try several
	shownBytes       = 120             // of a foreign answer
)

// Diagnose finds out why a probe failed, by talking to the endpoint in the ways
// that a wrong address, port or TLS setting gives away. It opens a few
// connections, sends nothing but an HTTP/2 preface, a GET of / without headers
// of the user's and a TLS greeting, and returns a *Diagnosis.
func Diagnose(ctx context.Context, e Endpoint, cause error) error {
	if cause == nil {
		cause = errors.New("the probe failed without saying why")
	}
	d := &Diagnosis{Endpoint: e, Cause: cause}
	bounded, cancel := context.WithTimeout(ctx, diagnosisTimeout)
	defer cancel()
	d.examine(bounded)
	if ctx.Err() != nil {
		// Steps that were cut short look like a peer that does not answer.
		d.set(FaultUnknown, "gave no answer before the time was up", "allow more time, or ask again")
	}
	return d
}

func (d *Diagnosis) examine(ctx context.Context) {
	conn, err := dialPlain(ctx, d.Endpoint)
	if err != nil {
		d.unreachable(err)
		return
	}
	conn.Close()
	if d.Endpoint.Secure() {
		d.overTLS(ctx)
	} else {
		d.overPlain(ctx)
	}
}

func (d *Diagnosis) set(f Fault, what, hint string) {
	d.Fault, d.What, d.Hint = f, what, hint
}

func (d *Diagnosis) unreachable(err error) {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		d.set(FaultUnresolved, "names a host without an address", "check the spelling of the host")
	case errors.Is(err, syscall.ECONNREFUSED):
		d.set(FaultUnreachable, "is refused: nothing listens there", "start the subject, or check host and port")
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		d.set(FaultUnreachable, "does not accept a connection in time", "check host and port, and firewalls between")
	default:
		d.set(FaultUnreachable, "cannot be connected to: "+escape([]byte(d.Endpoint.mask(err.Error())), 200), "check host, port and network")
	}
}

// other is the endpoint's scheme with TLS turned on or off.
func (e Endpoint) other() string {
	if e.Secure() {
		return strings.TrimSuffix(e.Scheme, "s")
	}
	return e.Scheme + "s"
}

func (d *Diagnosis) overTLS(ctx context.Context) {
	e := d.Endpoint
	step, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	conn, err := e.DialContext(step)
	if err == nil {
		defer conn.Close()
		d.overConnection(ctx, e.DialContext)
		return
	}
	var (
		record    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &record):
		d.isPlain(d.askPlainly(ctx))
	case errors.As(err, &authority):
		d.set(FaultAuthority, "shows a certificate that no trusted authority signed", "give the authority's certificate with --ca FILE")
	case errors.As(err, &name):
		d.set(FaultName, fmt.Sprintf("shows a certificate for %s, not for %s", certificateNames(name.Certificate), escape([]byte(name.Host), 100)),
			"use a name of the certificate in the target")
	case errors.As(err, &invalid):
		d.set(FaultCertificate, "shows an invalid certificate: "+escape([]byte(invalid.Error()), 200), "renew the certificate, and check this machine's clock")
	case isAlert(err):
		d.alert(err)
	default:
		// A plain server may close or wait at a TLS greeting: ask it plainly.
		if answer := d.askPlainly(ctx); len(answer) > 0 {
			d.isPlain(answer)
			return
		}
		if isTimeout(err) || errors.Is(err, context.DeadlineExceeded) {
			d.set(FaultSilent, fmt.Sprintf("accepts connections and never answers, neither to TLS nor to plain HTTP, within %v", stepTimeout),
				"check the port, and whether the subject hangs")
			return
		}
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
			d.set(FaultClosed, "accepts connections and closes them without an answer", "check the port and the subject's log")
			return
		}
		d.Cause = errors.Join(d.Cause, err)
		d.set(FaultHandshake, "fails in the TLS handshake", "check the subject's TLS settings")
	}
}

// askPlainly gives what the peer answers without TLS to HTTP/2, else to HTTP/1.
func (d *Diagnosis) askPlainly(ctx context.Context) []byte {
	answer, _ := ask(ctx, dialPlainOf(d.Endpoint), []byte(http2Greeting))
	if isHTTP2(answer) {
		return answer
	}
	if page, _ := ask(ctx, dialPlainOf(d.Endpoint), []byte(getRequest(d.Endpoint))); len(page) > 0 {
		return page
	}
	return answer
}

// isPlain is the diagnosis of a plain peer that was spoken to with TLS.
func (d *Diagnosis) isPlain(answer []byte) {
	seen := "does not speak TLS"
	switch {
	case isHTTP2(answer):
		seen += ", it speaks plain HTTP/2"
	case len(answer) > 0:
		seen += ", it answered " + quoteAnswer(answer)
	}
	d.set(FaultPlain, seen, fmt.Sprintf("write %s://%s", d.Endpoint.other(), d.Endpoint.Address))
}

func isAlert(err error) bool {
	var alert tls.AlertError
	var op *net.OpError
	return errors.As(err, &alert) || (errors.As(err, &op) && op.Op == "remote error")
}

func (d *Diagnosis) alert(err error) {
	text := escape([]byte(err.Error()), 200)
	if strings.Contains(text, "certificate") || strings.Contains(text, "unknown certificate authority") || strings.Contains(text, "access denied") {
		if d.Endpoint.TLS == nil || len(d.Endpoint.TLS.Certificates) == 0 {
			d.set(FaultClientRefused, "wants a certificate of ours: "+text, "give one with --cert FILE --key FILE")
		} else {
			d.set(FaultClientRefused, "refuses our certificate: "+text, "check that --cert is signed by an authority the subject trusts")
		}
		return
	}
	d.Cause = errors.Join(d.Cause, err)
	d.set(FaultHandshake, "fails in the TLS handshake", "check the subject's TLS settings")
}

func (d *Diagnosis) overPlain(ctx context.Context) {
	step, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	if speaksTLS(step, d.Endpoint) {
		d.set(FaultTLS, "wants TLS, but the target is plain", fmt.Sprintf("write %s://%s", d.Endpoint.other(), d.Endpoint.Address))
		return
	}
	d.overConnection(ctx, dialPlainOf(d.Endpoint))
}

// speaksTLS greets a plain endpoint with TLS; certificates do not matter here.
func speaksTLS(ctx context.Context, e Endpoint) bool {
	conn, err := dialPlain(ctx, e)
	if err != nil {
		return false
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	// #nosec: nothing but the greeting is sent over this connection.
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
	err = client.HandshakeContext(ctx)
	return err == nil || isAlert(err)
}

// overConnection judges a transport that works: which protocol is behind it?
func (d *Diagnosis) overConnection(ctx context.Context, dial dialer) {
	e := d.Endpoint
	answer, err := ask(ctx, dial, []byte(http2Greeting))
	switch {
	case isHTTP2(answer):
		d.set(FaultProtocol, "speaks HTTP/2, but not the protocol", "check that the port is the API's and not another service's")
		return
	case isAlert(err):
		d.alert(err)
		return
	}
	page, pageErr := ask(ctx, dial, []byte(getRequest(e)))
	if isAlert(pageErr) {
		d.alert(pageErr)
		return
	}
	for _, seen := range [][]byte{page, answer} {
		if !bytes.HasPrefix(seen, []byte("HTTP/")) {
			continue
		}
		if strings.HasPrefix(e.Scheme, "http") {
			d.set(FaultProtocol, "answers HTTP, but not the protocol: it began "+quoteAnswer(seen), "check that the port is the API's and not another service's")
		} else {
			d.set(FaultHTTP, "answers with HTTP/1 instead of gRPC: it began "+quoteAnswer(seen), "check the port; a web page or a proxy without HTTP/2 answers there")
		}
		return
	}
	for _, seen := range [][]byte{answer, page} {
		if len(seen) > 0 {
			d.set(FaultGarbage, "answers with bytes that are no HTTP: it began "+quoteAnswer(seen), "check the port; another service listens there")
			return
		}
	}
	if isTimeout(err) || isTimeout(pageErr) {
		d.set(FaultSilent, fmt.Sprintf("accepts connections and never answers within %v", stepTimeout), "check the port, and whether the subject hangs")
		return
	}
	d.set(FaultClosed, "accepts connections and closes them without an answer", "check the port and the subject's log")
}

// http2Greeting is the client preface and an empty SETTINGS frame, RFC 9113
// sections 3.4 and 6.5.
const http2Greeting = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"

// isHTTP2 recognises a SETTINGS frame at the start of an answer: type 4, no
// ACK, stream 0, a length that is a multiple of 6.
func isHTTP2(b []byte) bool {
	if len(b) < 9 {
		return false
	}
	length := int(b[0])<<16 | int(b[1])<<8 | int(b[2])
	return b[3] == 4 && b[4]&1 == 0 && length%6 == 0 && length <= 16384 && bytes.Equal(b[5:9], []byte{0, 0, 0, 0})
}

func getRequest(e Endpoint) string {
	return "GET / HTTP/1.1\r\nHost: " + e.Address + "\r\nUser-Agent: assay\r\nConnection: close\r\n\r\n"
}

type dialer func(ctx context.Context) (net.Conn, error)

func dialPlainOf(e Endpoint) dialer {
	return func(ctx context.Context) (net.Conn, error) { return dialPlain(ctx, e) }
}

func dialPlain(ctx context.Context, e Endpoint) (net.Conn, error) {
	e.Scheme = "http"
	step, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	return e.DialContext(step)
}

// ask sends a request over a new connection and returns the first bytes of the
// answer, as far as they come within one step.
func ask(ctx context.Context, dial dialer, request []byte) ([]byte, error) {
	step, cancel := context.WithTimeout(ctx, stepTimeout)
	defer cancel()
	conn, err := dial(step)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(step, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := conn.Write(request); err != nil {
		return nil, err
	}
	answer := make([]byte, 4*shownBytes)
	n, err := io.ReadAtLeast(conn, answer, 9)
	return answer[:n], err
}

func quoteAnswer(b []byte) string {
	if len(b) > shownBytes {
		return `"` + escape(b[:shownBytes], 2*shownBytes) + `"…`
	}
	return `"` + escape(b, 2*shownBytes) + `"`
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

func certificateNames(c *x509.Certificate) string {
	names := append([]string(nil), c.DNSNames...)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no name"
	}
	if len(names) > 5 {
		names = append(names[:5], strconv.Itoa(len(names)-5)+" more")
	}
	return escape([]byte(strings.Join(names, ", ")), 300)
}
