package wire

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/harness/subject"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type connKey struct{}

// connOf is the server's side of the connection a request came on.
func connOf(r *http.Request) net.Conn { return r.Context().Value(connKey{}).(net.Conn) }

// serve answers HTTP/1.1 and HTTP/2 on a loopback port with a handler that may
// write any bytes, and returns the endpoint under the given scheme.
func serve(t testing.TB, scheme string, handler http.HandlerFunc) subject.Endpoint {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := subject.Endpoint{Scheme: scheme, Address: l.Addr().String()}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{
		Handler:     handler,
		Protocols:   &protocols,
		ErrorLog:    log.New(io.Discard, "", 0), // its clients misbehave on purpose
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
	}
	if scheme == "grpcs" || scheme == "https" {
		cert, pool := certificate(t)
		s.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}}
		e.TLS = subjectTLS(pool)
	}
	done := make(chan error, 1)
	go func() {
		if s.TLSConfig != nil {
			done <- s.ServeTLS(l, "", "")
		} else {
			done <- s.Serve(l)
		}
	}()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("server: %v", err)
		}
	})
	return e
}

// certificate makes a certificate for loopback and the pool that trusts it.
func certificate(t testing.TB) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:        true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool
}

func dial(t testing.TB, e subject.Endpoint, o Options) *Client {
	t.Helper()
	c, err := Dial(e, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// within is a context for calls that are to be answered.
func within(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// frame is one gRPC message frame.
func frame(flag byte, message []byte) []byte {
	out := binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(message)))
	return append(out, message...)
}

// answerNative answers a native call: the bytes of a response body, then trailers as
// pairs of name and value.
func answerNative(body []byte, trailers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/grpc")
		_, _ = w.Write(body)
		for i := 0; i+1 < len(trailers); i += 2 {
			w.Header().Add(http.TrailerPrefix+trailers[i], trailers[i+1])
		}
	}
}

// statusOnly answers with a status in the headers alone.
func statusOnly(contentType string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Add(headers[i], headers[i+1])
		}
	}
}

// web answers a gRPC-Web call: message frames, then a trailer frame.
func web(body []byte, trailer string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/grpc-web+proto")
		_, _ = w.Write(body)
		_, _ = w.Write(frame(flagTrailer, []byte(trailer)))
	}
}

func page(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(code)
		_, _ = fmt.Fprintf(w, "<h1>%d</h1>", code)
	}
}

func subjectTLS(pool *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// row is one envelope of a query response.
func row(meta, envelope []byte) []byte {
	var inner []byte
	inner = protowire.AppendBytes(protowire.AppendTag(inner, 1, protowire.BytesType), meta)
	inner = protowire.AppendBytes(protowire.AppendTag(inner, 2, protowire.BytesType), envelope)
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), inner)
}
