package subject_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"assay/harness/subject"
)

// An authority signs certificates for one test.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string // its certificate as PEM
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	a := authority{file: filepath.Join(t.TempDir(), "ca.pem")}
	der, key := a.sign(t, &x509.Certificate{IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}, nil)
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.certificate, a.key = certificate, key
	writePEM(t, a.file, "CERTIFICATE", der)
	return a
}

// sign makes a certificate from the template, by the parent or by itself.
func (a authority) sign(t *testing.T, template *x509.Certificate, parent *authority) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.Subject = pkix.Name{CommonName: "assay test"}
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	template.NotBefore = template.NotAfter.Add(-2 * time.Hour)
	issuer, signer := template, key
	if parent != nil {
		issuer, signer = parent.certificate, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	return der, key
}

func (a authority) leaf(t *testing.T, template *x509.Certificate) tls.Certificate {
	t.Helper()
	der, key := a.sign(t, template, &a)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func loopback() *x509.Certificate {
	return &x509.Certificate{IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
}

func writePEM(t *testing.T, file, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// peer answers each connection with handle and gives its address.
func peer(t *testing.T, wrap func(net.Conn) net.Conn, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var (
		group sync.WaitGroup
		mu    sync.Mutex
		open  []net.Conn
	)
	group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			group.Go(func() {
				defer conn.Close()
				if wrap != nil {
					conn = wrap(conn)
				}
				handle(conn)
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, conn := range open {
			conn.Close()
		}
		mu.Unlock()
		group.Wait()
	})
	return l.Addr().String()
}

func overTLS(config *tls.Config) func(net.Conn) net.Conn {
	return func(conn net.Conn) net.Conn { return tls.Server(conn, config) }
}

// page answers as an HTTP/1 web server does.
func page(conn net.Conn) {
	request, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil || request.Method != http.MethodGet {
		io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
		return
	}
	io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html>\x1b[31mWelcome")
}

// http2Server answers with an empty SETTINGS frame, and no more.
func http2Server(conn net.Conn) {
	preface := make([]byte, 24)
	if _, err := io.ReadFull(conn, preface); err != nil || !strings.HasPrefix(string(preface), "PRI * HTTP/2.0") {
		return
	}
	conn.Write([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0})
	io.Copy(io.Discard, conn)
}

func silent(conn net.Conn) { io.Copy(io.Discard, conn) }

func closes(conn net.Conn) { io.CopyN(io.Discard, conn, 1) }

func babbles(conn net.Conn) { io.WriteString(conn, "SSH-2.0-\x07Server\r\n"); silent(conn) }

// handshake completes TLS and then handles the connection.
func handshake(handle func(net.Conn)) func(net.Conn) {
	return func(conn net.Conn) {
		if conn.(*tls.Conn).Handshake() == nil {
			handle(conn)
		}
	}
}

func TestWhyAPeerDoesNotAnswerIsExplained(t *testing.T) {
	ours, other := newAuthority(t), newAuthority(t)
	good := &tls.Config{Certificates: []tls.Certificate{ours.leaf(t, loopback())}, NextProtos: []string{"h2", "http/1.1"}}
	misnamed := &tls.Config{Certificates: []tls.Certificate{ours.leaf(t, &x509.Certificate{DNSNames: []string{"api.example", "b.example"}})}}
	expired := loopback()
	expired.NotAfter = time.Now().Add(-time.Minute)
	old := &tls.Config{Certificates: []tls.Certificate{ours.leaf(t, expired)}}
	wants := good.Clone()
	wants.ClientAuth, wants.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
	wants.ClientCAs.AddCert(ours.certificate)
	clientFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	stranger := other.leaf(t, &x509.Certificate{})
	writePEM(t, clientFile, "CERTIFICATE", stranger.Certificate[0])
	keyBytes, err := x509.MarshalPKCS8PrivateKey(stranger.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, keyFile, "PRIVATE KEY", keyBytes)

	trust := subject.TLSOptions{CAFile: ours.file}
	for _, c := range []struct {
		name   string
		scheme string
		tls    subject.TLSOptions
		wrap   func(net.Conn) net.Conn
		handle func(net.Conn)
		fault  subject.Fault
		says   []string
	}{
		{"a plain peer is spoken to with TLS", "grpcs", trust, nil, page, subject.FaultPlain, []string{"does not speak TLS", "HTTP/1.1 200 OK", "hint: write grpc://127.0.0.1:"}},
		{"a silent closer is spoken to with TLS", "grpcs", trust, nil, closes, subject.FaultClosed, []string{"closes them without an answer"}},
		{"a silent peer is spoken to with TLS", "grpcs", trust, nil, silent, subject.FaultSilent, []string{"never answers, neither to TLS nor to plain HTTP"}},
		{"a plain HTTP/2 peer is spoken to with TLS", "https", trust, nil, http2Server, subject.FaultPlain, []string{"it speaks plain HTTP/2", "hint: write http://"}},
		{"a TLS peer is spoken to plainly", "grpc", subject.TLSOptions{}, overTLS(good), handshake(http2Server), subject.FaultTLS, []string{"wants TLS", "hint: write grpcs://127.0.0.1:"}},
		{"a TLS peer that wants a certificate is spoken to plainly", "http", subject.TLSOptions{}, overTLS(wants), handshake(page), subject.FaultTLS, []string{"hint: write https://"}},
		{"the authority is not trusted", "grpcs", subject.TLSOptions{CAFile: other.file}, overTLS(good), handshake(http2Server), subject.FaultAuthority, []string{"no trusted authority signed", "--ca FILE"}},
		{"the certificate names another host", "grpcs", trust, overTLS(misnamed), handshake(http2Server), subject.FaultName, []string{"for api.example, b.example, not for 127.0.0.1"}},
		{"the certificate has expired", "grpcs", trust, overTLS(old), handshake(http2Server), subject.FaultCertificate, []string{"expired", "clock"}},
		{"a client certificate is wanted", "grpcs", trust, overTLS(wants), handshake(http2Server), subject.FaultClientRefused, []string{"wants a certificate of ours", "--cert FILE --key FILE"}},
		{"our client certificate is refused", "grpcs", subject.TLSOptions{CAFile: ours.file, CertFile: clientFile, KeyFile: keyFile}, overTLS(wants), handshake(http2Server), subject.FaultClientRefused, []string{"refuses our certificate", "signed by an authority the subject trusts"}},
		{"a web page answers where gRPC was expected", "grpc", subject.TLSOptions{}, nil, page, subject.FaultHTTP, []string{"HTTP/1 instead of gRPC", `HTTP/1.1 200 OK\r\n`}},
		{"a web page answers over TLS", "grpcs", trust, overTLS(good), handshake(page), subject.FaultHTTP, []string{"HTTP/1 instead of gRPC"}},
		{"a web page answers where another HTTP protocol was expected", "http", subject.TLSOptions{}, nil, page, subject.FaultProtocol, []string{`"HTTP/1.1 200 OK`, "the probe says why"}},
		{"an HTTP/2 peer answers another protocol", "grpc", subject.TLSOptions{}, nil, http2Server, subject.FaultProtocol, []string{"speaks HTTP/2, but not the protocol: the probe says why"}},
		{"an HTTP/2 peer answers another protocol over TLS", "grpcs", trust, overTLS(good), handshake(http2Server), subject.FaultProtocol, []string{"speaks HTTP/2"}},
		{"a peer accepts and is silent", "grpc", subject.TLSOptions{}, nil, silent, subject.FaultSilent, []string{"never answers within"}},
		{"a peer accepts and closes", "grpc", subject.TLSOptions{}, nil, closes, subject.FaultClosed, []string{"closes them without an answer"}},
		{"another service answers", "grpc", subject.TLSOptions{}, nil, babbles, subject.FaultGarbage, []string{`"SSH-2.0-\x07Server\r\n"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			e, err := subject.ParseEndpoint(c.scheme+"://"+peer(t, c.wrap, c.handle), c.tls, []string{"authorization: Bearer hunter2"})
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			diagnosed(t, subject.Diagnose(t.Context(), e, errors.New("the probe says why, with Bearer hunter2")), c.fault, c.says)
			if took := time.Since(began); took > 15*time.Second {
				t.Errorf("the diagnosis took %v", took)
			}
		})
	}
}

func diagnosed(t *testing.T, err error, fault subject.Fault, says []string) {
	t.Helper()
	var d *subject.Diagnosis
	if !errors.As(err, &d) || d.Fault != fault {
		t.Errorf("fault %+v, expected %d: %v", d, fault, err)
	}
	contains(t, err.Error(), says...)
	if text := err.Error(); strings.Contains(text, "hunter2") || strings.ContainsAny(text, "\x1b\x07\n") || len(text) > 2000 {
		t.Errorf("the text shows a secret, is not escaped or is %d bytes long: %q", len(text), text)
	}
}

func TestWhereNothingListensIsExplained(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	free := l.Addr().String()
	l.Close()
	for _, c := range []struct {
		target string
		fault  subject.Fault
		says   []string
	}{
		{"grpc://" + free, subject.FaultUnreachable, []string{free + " is refused: nothing listens there"}},
		{"grpcs://" + free, subject.FaultUnreachable, []string{"nothing listens there"}},
		{"grpc://no-such-host.invalid:1", subject.FaultUnresolved, []string{"names a host without an address"}},
	} {
		e, err := subject.ParseEndpoint(c.target, subject.TLSOptions{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		diagnosed(t, subject.Diagnose(t.Context(), e, nil), c.fault, c.says)
	}
}

func TestADiagnosisWithoutTimeClaimsNothing(t *testing.T) {
	e, err := subject.ParseEndpoint("grpc://"+peer(t, nil, silent), subject.TLSOptions{}, []string{"a: hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	diagnosed(t, subject.Diagnose(ctx, e, errors.New("the probe says hunter2")), subject.FaultUnknown, []string{"before the time was up: the probe says *****"})
}

func TestATargetThatAnswersIsOpenAndNotOurs(t *testing.T) {
	address := peer(t, nil, page)
	e, err := subject.ParseEndpoint("http://"+address, subject.TLSOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := subject.Target{Endpoint: e, Probe: probe}.Open(t.Context(), subject.Configuration{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Owned() || r.Exited() != nil || !errors.Is(r.Kill(), subject.ErrNotOwned) || !errors.Is(r.Restart(t.Context()), subject.ErrNotOwned) || r.Stop(t.Context()) != nil {
		t.Error("a target is treated as ours")
	}
	if err := probe(t.Context(), e); err != nil {
		t.Errorf("after Stop: %v", err)
	}
	for _, cfg := range []subject.Configuration{{KeepaliveMS: 1}, {Chain: true}, {Limits: map[string]uint64{"a": 1}}} {
		if _, err := (subject.Target{Endpoint: e, Probe: probe}).Open(t.Context(), cfg); !errors.Is(err, subject.ErrUnsupported) {
			t.Errorf("%s: %v", cfg.Describe(), err)
		}
	}
}

func TestATargetThatIsWrongIsRefusedAtOnceAndOneThatIsDownAfterItsTime(t *testing.T) {
	e, err := subject.ParseEndpoint("grpc://"+peer(t, nil, page), subject.TLSOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	never := func(context.Context, subject.Endpoint) error { return fmt.Errorf("not the protocol") }
	began := time.Now()
	_, err = subject.Target{Endpoint: e, Probe: never, Timeout: time.Minute}.Open(t.Context(), subject.Configuration{})
	diagnosed(t, err, subject.FaultHTTP, nil)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("a web page took %v to refuse", took)
	}
	e.Address = "127.0.0.1:1"
	_, err = subject.Target{Endpoint: e, Probe: probe, Timeout: 300 * time.Millisecond}.Open(t.Context(), subject.Configuration{})
	diagnosed(t, err, subject.FaultUnreachable, nil)
}

func TestAConnectionOverTLSOffersHTTP2(t *testing.T) {
	ours := newAuthority(t)
	config := &tls.Config{Certificates: []tls.Certificate{ours.leaf(t, loopback())}, NextProtos: []string{"h2"}}
	e, err := subject.ParseEndpoint("https://"+peer(t, overTLS(config), handshake(silent)), subject.TLSOptions{CAFile: ours.file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := e.DialContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got := conn.(*tls.Conn).ConnectionState().NegotiatedProtocol; got != "h2" {
		t.Errorf("agreed on %q", got)
	}
}
