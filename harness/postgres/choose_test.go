package postgres

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// programs makes a folder that looks like an installation's bin.
func programs(t *testing.T, dir string, names ...string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestBinariesAreFound(t *testing.T) {
	root := tempFolder(t)
	at := func(path string) string { return filepath.Join(root, path) }
	both := []string{"initdb", "postgres"}
	nine := programs(t, at("lib/9.6/bin"), both...)
	fifteen := programs(t, at("lib/15/bin"), both...)
	hundred := programs(t, at("lib/100/bin"), both...)
	brew := programs(t, at("opt/postgresql@17/bin"), both...)
	oldBrew := programs(t, at("opt/postgresql@9/bin"), both...)
	clientOnly := programs(t, at("client"), "psql")
	halfInstalled := programs(t, at("half"), "postgres")
	notExecutable := programs(t, at("data"), both...)
	if err := os.Chmod(filepath.Join(notExecutable, "postgres"), 0o644); err != nil {
		t.Fatal(err)
	}
	links := programs(t, at("links"))
	if err := os.Symlink(filepath.Join(fifteen, "postgres"), filepath.Join(links, "postgres")); err != nil {
		t.Fatal(err)
	}
	path := func(dirs ...string) string { return strings.Join(dirs, string(filepath.ListSeparator)) }

	for _, c := range []struct {
		name     string
		given    []string
		path     string
		patterns []string
		want     []string
	}{
		{"in a given folder first, then in PATH, then in the usual places", []string{brew}, path(clientOnly, nine), []string{at("lib/*/bin")}, []string{brew, nine, hundred, fifteen}},
		{"newest first, by number and not by letter", nil, "", []string{at("lib/*/bin"), at("opt/postgresql@*/bin")}, []string{hundred, fifteen, nine, brew, oldBrew}},
		{"behind a link, at the place the link names, once", nil, path(links, fifteen), nil, []string{fifteen}},
		{"not where only the client is", nil, clientOnly, nil, nil},
		{"not where initdb is missing", []string{halfInstalled}, "", nil, nil},
		{"not where they may not be executed", []string{notExecutable}, "", nil, nil},
		{"not in a relative or empty entry of PATH", nil, path("", "bin", "."), nil, nil},
		{"not in a folder that is not there", []string{at("nowhere")}, at("nowhere"), []string{at("nowhere/*")}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, findBinDirs(c.given, c.path, c.patterns)); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

func TestDebianAndHomebrewAreUsualPlaces(t *testing.T) {
	for _, want := range []string{"/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin"} {
		if !slices.Contains(usualBinDirs(), want) {
			t.Errorf("%s is not looked at", want)
		}
	}
}

// nothingLocal are options with which nothing works, however well the machine is equipped.
func nothingLocal(t *testing.T, temp string) Options {
	t.Helper()
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	nobody := newAddress(loopback, port, "u", "p", "d").url.Host
	return Options{
		TempDir:   temp,
		Container: ContainerOptions{Image: nobody + "/no/such:image"},
		Download:  DownloadOptions{RepositoryURL: "http://" + nobody, CacheDir: filepath.Join(temp, "cache")},
		usual:     []string{},
	}
}

func TestWhenNothingWorksOneErrorSaysWhatWasTriedAndWhatToDo(t *testing.T) {
	temp := tempFolder(t)
	broken := programs(t, filepath.Join(temp, "broken"), "initdb", "postgres")
	if err := os.WriteFile(filepath.Join(broken, "initdb"), []byte("#!/bin/sh\necho no library; exit 4\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/nowhere")
	for _, c := range []struct {
		name   string
		change func(*Options)
		want   []string // in this order
	}{
		{"by default", func(*Options) {}, []string{
			"no Postgres server to work with; tried, in this order:",
			"\n  local binaries: no folder holds both initdb and postgres; looked at PATH",
			"\n  container: ", "no/such:image",
			"\n  downloaded binaries: ", defaultVersion, "unable to connect",
			"\nwhat to do", "apt-get install postgresql", "Docker", "URL",
		}},
		{"with a broken installation", func(o *Options) { o.Sources, o.BinDirs = []Kind{Local}, []string{broken} }, []string{
			"\n  local binaries: " + broken + ": initdb", "exit status 4", "no library", "\nwhat to do",
		}},
		{"with a source that does not exist", func(o *Options) { o.Sources = []Kind{"parcel"} }, []string{
			"\n  \"parcel\": unknown source", "expected url, local, container or download", "\nwhat to do",
		}},
		{"with a URL among the sources and none given", func(o *Options) { o.Sources = []Kind{Given} }, []string{
			"\n  given URL: no URL was given", "\nwhat to do",
		}},
		{"with a version that is none", func(o *Options) { o.Sources, o.Download.Version = []Kind{Download}, "../17" }, []string{
			"\n  downloaded binaries: version \"../17\": expected numbers",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := nothingLocal(t, temp)
			c.change(&o)
			s, err := Open(t.Context(), o)
			if err == nil {
				_ = s.Close()
				t.Fatal("it found a server")
			}
			var all *NoServerError
			if !errors.As(err, &all) {
				t.Fatalf("error %T", err)
			}
			rest := err.Error()
			for _, want := range c.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("%q is missing, or in the wrong place, in:\n%s", want, err)
				}
				rest = after
			}
			if left, _ := filepath.Glob(filepath.Join(temp, directoryPrefix+"*")); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestASourceThatFailsIsFollowedByTheNext(t *testing.T) {
	o := nothingLocal(t, tempFolder(t))
	o.usual = nil
	o.Sources = []Kind{Container, Local}
	s := open(t, o)
	if !strings.HasPrefix(s.Source(), "local binaries ") {
		t.Errorf("source is %q", s.Source())
	}
}

func TestKindsAreReadAsTheyAreWritten(t *testing.T) {
	for _, k := range []Kind{Given, Local, Container, Download} {
		if got, err := ParseKind(k.String()); err != nil || got != k {
			t.Errorf("%s is read as %q, %v", k, got, err)
		}
	}
	if _, err := ParseKind("parcel"); err == nil {
		t.Error("parcel is a kind")
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	for name, settings := range map[string]map[string]string{
		"a name with a space":     {"max connections": "1"},
		"an empty name":           {"": "1"},
		"a value cut by NUL":      {"max_connections": "1\x00"},
		"the port, which is ours": {"Port": "1"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Open(t.Context(), Options{Settings: settings})
			if err == nil {
				_ = s.Close()
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), "postgres setting") {
				t.Errorf("error %v", err)
			}
		})
	}
}
