package subject

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Endpoint is where a subject answers, and how to get there.
type Endpoint struct {
	// Scheme is grpc or http (plain), grpcs or https (TLS). Which protocol is
	// spoken there is the suite's business; here only TLS or not matters.
	Scheme string
	// Address is host:port, an IPv6 host in brackets.
	Address string
	// TLS is how to verify the peer and to present ourselves. Nil means the
	// system's authorities; unused with a plain scheme.
	TLS *tls.Config
	// Header is sent with every call, names in lower case. The values are
	// secrets: no String, error or log has them.
	Header map[string][]string
}

// TLSOptions are the files and names behind --ca, --cert and --key.
type TLSOptions struct {
	CAFile     string // PEM, trusted instead of the system's authorities
	CertFile   string // PEM, our certificate; needs KeyFile
	KeyFile    string // PEM, our private key; needs CertFile
	ServerName string // the name to expect in the peer's certificate, "" for the host of the target
}

// ParseEndpoint reads a target such as grpc://host:port or https://host. Each
// header is "name: value". No error repeats a header or the user part of a
// target, which may be secrets.
func ParseEndpoint(target string, o TLSOptions, headers []string) (Endpoint, error) {
	scheme, rest, found := strings.Cut(target, "://")
	if !found {
		return Endpoint{}, fmt.Errorf("target %s has no scheme; write grpc://host:port, or grpcs, http, https", shownTarget(target))
	}
	scheme = strings.ToLower(scheme)
	e := Endpoint{Scheme: scheme}
	if !slices.Contains([]string{"grpc", "grpcs", "http", "https"}, scheme) {
		return Endpoint{}, fmt.Errorf("target scheme %q is unknown; write grpc, grpcs, http or https", escape([]byte(scheme), 40))
	}
	if strings.Contains(rest, "@") {
		return Endpoint{}, errors.New("target names a user before @; leave that out and pass credentials with --header 'authorization: …'")
	}
	u, err := url.Parse("//" + rest)
	if err != nil {
		return Endpoint{}, fmt.Errorf("target %s is no address; write %s://host:port", shownTarget(target), scheme)
	}
	if strings.TrimPrefix(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return Endpoint{}, fmt.Errorf("target %s has more than host and port; write %s://%s", shownTarget(target), scheme, escape([]byte(u.Host), 200))
	}
	port := u.Port()
	if port == "" {
		switch scheme {
		case "http":
			port = "80"
		case "https":
			port = "443"
		default:
			return Endpoint{}, fmt.Errorf("target %s has no port; write %s://host:port", shownTarget(target), scheme)
		}
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return Endpoint{}, fmt.Errorf("target %s has no usable port; write a number from 1 to 65535", shownTarget(target))
	}
	if u.Hostname() == "" {
		return Endpoint{}, fmt.Errorf("target %s has no host; write %s://host:port", shownTarget(target), scheme)
	}
	e.Address = net.JoinHostPort(u.Hostname(), port)
	if e.Secure() {
		if e.TLS, err = o.config(u.Hostname()); err != nil {
			return Endpoint{}, err
		}
	} else if o != (TLSOptions{}) {
		return Endpoint{}, fmt.Errorf("target %s is plain, but TLS files or names were given; write %ss://%s, or leave --ca, --cert and --key out", e, scheme, e.Address)
	}
	if e.Header, err = parseHeaders(headers); err != nil {
		return Endpoint{}, err
	}
	return e, nil
}

func shownTarget(target string) string {
	if before, after, found := strings.Cut(target, "@"); found {
		// What stands before @ may be a password: keep only the scheme.
		scheme, _, hasScheme := strings.Cut(before, "://")
		if !hasScheme {
			scheme = ""
		} else {
			scheme += "://"
		}
		target = scheme + "…@" + after
	}
	return strconv.Quote(escape([]byte(target), 200))
}

// Config reads the files into the TLS configuration for a peer called host.
func (o TLSOptions) config(host string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: host, NextProtos: []string{"h2", "http/1.1"}}
	if o.ServerName != "" {
		c.ServerName = o.ServerName
	}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("certificate authority file of --ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificate authority file %s of --ca holds no PEM certificate", strconv.Quote(o.CAFile))
		}
	}
	if (o.CertFile == "") != (o.KeyFile == "") {
		return nil, errors.New("a client certificate needs both files: give --cert and --key together")
	}
	if o.CertFile != "" {
		// The standard library's errors name what is malformed, never key bytes.
		pair, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("client certificate of --cert %s and --key %s: %w", strconv.Quote(o.CertFile), strconv.Quote(o.KeyFile), err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func parseHeaders(headers []string) (map[string][]string, error) {
	if len(headers) == 0 {
		return nil, nil
	}
	parsed := make(map[string][]string, len(headers))
	for i, line := range headers {
		name, value, found := strings.Cut(line, ":")
		name = strings.ToLower(strings.TrimSpace(name))
		value = strings.TrimSpace(value)
		switch {
		case !found || name == "":
			return nil, fmt.Errorf("header %d is not \"name: value\"; write --header 'authorization: …'", i+1)
		case strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "":
			return nil, fmt.Errorf("header %d has a name with characters other than letters, digits, dot, dash and underscore", i+1)
		case strings.ContainsFunc(value, func(r rune) bool { return (r < ' ' && r != '\t') || r == 0x7f }):
			return nil, fmt.Errorf("header %d has a control character in its value", i+1)
		}
		parsed[name] = append(parsed[name], value)
	}
	return parsed, nil
}

// String is the target as it was written, without anything secret.
func (e Endpoint) String() string { return e.Scheme + "://" + e.Address }

// Format keeps every verb of fmt from printing the header values.
func (e Endpoint) Format(f fmt.State, _ rune) { fmt.Fprint(f, e.String()) }

// Secure says whether the endpoint is spoken to over TLS.
func (e Endpoint) Secure() bool { return e.Scheme == "grpcs" || e.Scheme == "https" }

// DialContext opens one connection: bare TCP for a plain scheme, else TLS with
// its handshake done, offering h2 and http/1.1. The context bounds all of it.
func (e Endpoint) DialContext(ctx context.Context) (net.Conn, error) {
	dialer := &net.Dialer{KeepAlive: 15 * time.Second}
	if !e.Secure() {
		return dialer.DialContext(ctx, "tcp", e.Address)
	}
	return (&tls.Dialer{NetDialer: dialer, Config: e.tlsConfig()}).DialContext(ctx, "tcp", e.Address)
}

func (e Endpoint) tlsConfig() *tls.Config {
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if e.TLS != nil {
		c = e.TLS.Clone()
	}
	if len(c.NextProtos) == 0 {
		c.NextProtos = []string{"h2", "http/1.1"}
	}
	if c.ServerName == "" {
		if host, _, err := net.SplitHostPort(e.Address); err == nil {
			c.ServerName = host
		}
	}
	return c
}

// mask hides the header values in a text that may have picked them up.
func (e Endpoint) mask(text string) string {
	var secrets []string
	for _, values := range e.Header {
		for _, value := range values {
			secrets = append(secrets, value)
			// A credential often follows its scheme: "Bearer …".
			if _, credential, found := strings.Cut(value, " "); found {
				secrets = append(secrets, credential)
			}
		}
	}
	return newMasker(secrets).mask(text)
}
