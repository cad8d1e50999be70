// Package postgres finds a Postgres server to work with, or starts one, and hands out databases that belong to one run.
//
// Start at [Open]: a given URL wins; without one it looks for local binaries, then for a container engine, then
// downloads binaries, and the first that works is the [Server]. [Server.CreateDatabase] makes a database of its own
// for a run. [Server.Close] removes all that was made, and so does the end of the context that Open was given.
//
// What it promises:
//   - A run leaves nothing behind: no process, no directory, no container, no database. If the run is killed so that
//     it cannot tidy up, a private server ends by itself (see supervise.go), and the next Open removes the rest. What a
//     live run still uses is never touched (see sweep.go and owner.go).
//   - A process that runs as root starts the server as an unprivileged user, because Postgres refuses to run as root.
//   - Passwords reach neither logs nor errors nor [Server.Source].
//
// What it does not promise: a private server is made for races, not for power cuts. It runs with fsync off, which
// changes nothing about what sessions see of each other (snapshots, locks, the order of commits, recovery after the
// server process is killed), only what survives a crash of the machine. Options.Settings turns it back on.
//
// It works on Unix systems. Downloaded archives are cached between runs, in the folder that Options.Download names.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
)

// minVersion is the oldest server we work with, as server_version_num: DROP DATABASE … WITH (FORCE), without which a
// run cannot remove a database that a subject still holds open, came with 13.
const minVersion = 130000

// Kind is one way to come by a server.
type Kind string

// The ways, in the order in which Open tries them.
const (
	Given     Kind = "url"       // the URL in Options; wins whenever it is set
	Local     Kind = "local"     // initdb and postgres found on this machine
	Container Kind = "container" // an image run by Docker or whatever answers in its place
	Download  Kind = "download"  // binaries fetched from a repository
)

// ParseKind reads the word that a flag or file uses for a Kind.
func ParseKind(s string) (Kind, error) {
	switch k := Kind(s); k {
	case Given, Local, Container, Download:
		return k, nil
	}
	return "", fmt.Errorf("unknown source of a Postgres server %q: expected url, local, container or download", s)
}

// String is the word that ParseKind reads.
func (k Kind) String() string { return string(k) }

// Options say where a server may come from. The zero value is usable: everything is searched, in the usual places.
type Options struct {
	// URL of a server to use as it is (postgres://user:password@host:port/database). Its role must be allowed to
	// create databases. When it is set nothing else is tried: a typo must not start a server quietly.
	URL string

	// Sources are tried in this order when URL is empty. Empty means Local, Container, Download.
	Sources []Kind

	// BinDirs are folders holding initdb and postgres, looked at before PATH and the usual places.
	BinDirs []string

	// Settings of the server by name, over our own: max_connections, fsync and the like. Ignored for a given URL,
	// where the server is not ours to configure.
	Settings map[string]string

	// TempDir is where a private server keeps its files while it runs. Empty means the system's. When the process
	// runs as root, the unprivileged user must be able to reach it.
	TempDir string

	Container ContainerOptions
	Download  DownloadOptions

	// Log receives what is worth telling (what was chosen, what was swept). Nil discards it.
	Log *slog.Logger

	usual []string // patterns in place of usualBinDirs, in tests; nil means those
}

// defaultSettings make a fast, quiet, roomy throw-away server; the package comment says what fsync off means.
func defaultSettings() map[string]string {
	return map[string]string{
		"max_connections":    "300", // many actors and a subject's pool; Postgres ships 100
		"fsync":              "off",
		"full_page_writes":   "off", // only guards against pages torn by a machine crash
		"jit":                "off", // compile pauses look like races
		"timezone":           "UTC",
		"log_timezone":       "UTC",
		"lc_messages":        "C",
		"checkpoint_timeout": "30min",
		"max_wal_size":       "4GB",
	}
}

// Open finds or starts a server. First it removes what killed runs left behind.
//
// The server lives no longer than ctx: when ctx ends (a Ctrl-C, say) it is closed as by [Server.Close]. A program
// should still defer Close, which waits until that is done.
func Open(ctx context.Context, o Options) (*Server, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.TempDir == "" {
		o.TempDir = os.TempDir()
	}
	if o.usual == nil {
		o.usual = usualBinDirs()
	}
	settings := defaultSettings()
	for name, value := range o.Settings {
		if !validSetting(name) || strings.ContainsRune(value, 0) {
			return nil, fmt.Errorf("postgres setting %q: expected a name such as max_connections and a value without NUL", name)
		}
		if strings.EqualFold(name, "port") {
			return nil, errors.New("postgres setting port: the port of a server that we start is ours to choose; leave it out")
		}
		settings[name] = value
	}
	o.Settings = settings
	if o.URL != "" {
		return openGiven(ctx, o)
	}
	if len(o.Sources) == 0 {
		o.Sources = []Kind{Local, Container, Download}
	}

	sweepDirectories(ctx, o)
	var tried []attempt
	for _, kind := range o.Sources {
		var server *Server
		var err error
		switch kind {
		case Local:
			server, err = openLocal(ctx, o)
		case Container:
			server, err = openContainer(ctx, o)
		case Download:
			server, err = openDownload(ctx, o)
		case Given:
			err = errors.New("no URL was given")
		default:
			_, err = ParseKind(string(kind))
		}
		if err == nil {
			o.Log.Info("postgres server ready", "source", server.Source())
			return server, nil
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("starting a Postgres server: %w", context.Cause(ctx))
		}
		o.Log.Debug("postgres source does not work", "source", kind, "reason", err)
		tried = append(tried, attempt{kind, err})
	}
	return nil, &NoServerError{tried}
}

// NoServerError says what was tried to come by a server, why each way failed, and what to do about it.
type NoServerError struct {
	tried []attempt
}

type attempt struct {
	kind Kind
	err  error
}

func (e *NoServerError) Error() string {
	var b strings.Builder
	b.WriteString("no Postgres server to work with; tried, in this order:")
	for _, a := range e.tried {
		what := map[Kind]string{
			Given: "given URL", Local: "local binaries", Container: "container", Download: "downloaded binaries",
		}[a.kind]
		if what == "" {
			what = fmt.Sprintf("%q", string(a.kind))
		}
		fmt.Fprintf(&b, "\n  %s: %s", what, strings.ReplaceAll(a.err.Error(), "\n", "\n    "))
	}
	b.WriteString("\nwhat to do, any one of:" +
		"\n  install Postgres 13 or newer (Debian: apt-get install postgresql; macOS: brew install postgresql@17)" +
		"\n  start Docker and make the image available" +
		"\n  give the URL of a server whose role may create databases")
	return b.String()
}

// Unwrap gives the reason of each failed way, so that errors.Is and errors.As see them.
func (e *NoServerError) Unwrap() []error {
	var all []error
	for _, a := range e.tried {
		all = append(all, a.err)
	}
	return all
}

// validSetting accepts what Postgres itself accepts as the name of a setting, custom ones with a dot included.
func validSetting(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return !(r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
}

// settingArgs turns settings into the arguments of the server program, in a fixed order.
func settingArgs(settings map[string]string) []string {
	var args []string
	for name, value := range settings {
		args = append(args, name+"="+value)
	}
	slices.Sort(args)
	var out []string
	for _, a := range args {
		out = append(out, "-c", a)
	}
	return out
}
