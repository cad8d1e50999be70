package subject

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Values is what the placeholders of a command stand for.
type Values struct {
	// DatabaseURL is {database}, a postgres:// URL; {db_host} {db_port}
	// {db_user} {db_password} {db_name} are its parts. Its password is a secret.
	DatabaseURL string
	// Listen is {listen}, host:port where the subject must listen; "" chooses a
	// free port of the loopback address.
	Listen string
	// Chain is {chain}, the URL of the chain RPC, and ChainID is {chain_id}.
	Chain   string
	ChainID uint64
	// KeepaliveMS is {keepalive_ms} where the configuration asks for no other:
	// the default of the suite's specification.
	KeepaliveMS uint32
	// Configuration gives {limits} and {keepalive_ms}.
	Configuration Configuration
}

// commandPlaceholders are the placeholders of a spawned command.
func commandPlaceholders() []string {
	return []string{
		"listen", "database", "db_host", "db_port", "db_user", "db_password", "db_name",
		"chain", "chain_id", "limits", "keepalive_ms",
	}
}

// String says nothing of the database but its place.
func (v Values) String() string {
	return fmt.Sprintf("listen %s, %s", v.Listen, v.Configuration.Describe())
}

// Format keeps every verb of fmt from printing the database password.
func (v Values) Format(f fmt.State, _ rune) { fmt.Fprint(f, v.String()) }

// value gives what a placeholder stands for.
func (v Values) value(name string) (string, error) {
	switch name {
	case "listen":
		return v.Listen, nil
	case "database", "db_host", "db_port", "db_user", "db_password", "db_name":
		return v.database(name)
	case "chain", "chain_id":
		if v.Chain == "" && v.Configuration.Chain {
			return "", errors.New("the configuration asks for a chain, but the run has none")
		}
		if name == "chain_id" {
			return strconv.FormatUint(v.ChainID, 10), nil
		}
		return v.Chain, nil
	case "limits":
		return v.Configuration.LimitsJSON(), nil
	case "keepalive_ms":
		if ms := v.Configuration.KeepaliveMS; ms != 0 {
			return strconv.FormatUint(uint64(ms), 10), nil
		}
		return strconv.FormatUint(uint64(v.KeepaliveMS), 10), nil
	}
	return "", errors.New("nothing is known by this name")
}

func (v Values) database(name string) (string, error) {
	if v.DatabaseURL == "" {
		return "", errors.New("the command asks for a database, but the run has none")
	}
	if name == "database" {
		return v.DatabaseURL, nil
	}
	// An error of url.Parse repeats the URL and with it the password.
	u, err := url.Parse(v.DatabaseURL)
	if err != nil || (u.Scheme != "postgres" && u.Scheme != "postgresql") {
		return "", errors.New("the database address is no postgres:// URL, so it has no parts to hand out; use {database}")
	}
	query := u.Query()
	first := func(values ...string) string {
		for _, value := range values {
			if value != "" {
				return value
			}
		}
		return ""
	}
	switch name {
	case "db_host":
		return first(query.Get("host"), u.Hostname(), "localhost"), nil
	case "db_port":
		return first(query.Get("port"), u.Port(), "5432"), nil
	case "db_user":
		return first(query.Get("user"), u.User.Username()), nil
	case "db_password":
		password, _ := u.User.Password()
		return first(query.Get("password"), password), nil
	default:
		return first(query.Get("dbname"), strings.TrimPrefix(u.Path, "/"), u.User.Username()), nil
	}
}

// secrets are the texts that must not appear in recorded output.
func (v Values) secrets() []string {
	if v.DatabaseURL == "" {
		return nil
	}
	u, err := url.Parse(v.DatabaseURL)
	if err != nil {
		return []string{v.DatabaseURL}
	}
	var secrets []string
	add := func(password string) {
		if password == "" {
			return
		}
		escaped := url.UserPassword("", password).String()
		secrets = append(secrets, password, url.QueryEscape(password), url.PathEscape(password), strings.TrimPrefix(escaped, ":"))
		// Output is recorded by lines, so a secret of several lines is masked by lines.
		if strings.ContainsAny(password, "\r\n") {
			secrets = append(secrets, strings.FieldsFunc(password, func(r rune) bool { return r == '\n' || r == '\r' })...)
		}
	}
	password, _ := u.User.Password()
	add(password)
	add(u.Query().Get("password"))
	// As it was written, which may escape more or less than we would.
	if _, rest, found := strings.Cut(v.DatabaseURL, "://"); found {
		if user, _, found := strings.Cut(rest, "@"); found {
			if _, written, found := strings.Cut(user, ":"); found {
				add(written)
			}
		}
	}
	return secrets
}

// freeListen finds a port of the loopback address that nobody has at this
// moment. Somebody may take it before the subject does; Start tries again then.
func freeListen() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("no free port on the loopback address for the subject: %w", err)
	}
	address := l.Addr().String()
	return address, l.Close()
}

// listenable says whether the address is free to listen on.
func listenable(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return l.Close()
}

// reachable is the address to dial for a subject that listens on listen.
func reachable(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil || port == "" || port == "0" {
		return "", fmt.Errorf("listen address %q is not host:port with a port of its own", escape([]byte(listen), 100))
	}
	switch host {
	case "", "0.0.0.0":
		host = "127.0.0.1"
	case "::":
		host = "::1"
	}
	return net.JoinHostPort(host, port), nil
}
