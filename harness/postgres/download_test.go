package postgres

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ulikunitz/xz"
)

// archive packs files the way the repository of embedded-postgres does: a compressed tar in a jar.
func archive(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	compress, err := xz.WriterConfig{DictCap: 1 << 16}.NewWriter(&packed) // for speed, not for size
	if err != nil {
		t.Fatal(err)
	}
	all := tar.NewWriter(compress)
	for name, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := all.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o755, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := all.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compress.Close(); err != nil {
		t.Fatal(err)
	}
	var jar bytes.Buffer
	z := zip.NewWriter(&jar)
	w, err := z.CreateHeader(&zip.FileHeader{Name: "postgres-" + runtime.GOOS + ".txz", Method: zip.Store})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(packed.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return jar.Bytes()
}

// repository serves one jar on loopback, with its checksum, and counts how often the jar is asked for.
func repository(t *testing.T, version string, jar []byte, checksum string) (url string, fetched *atomic.Int32) {
	t.Helper()
	fetched = new(atomic.Int32)
	const folder = "/io/zonky/test/postgres/embedded-postgres-binaries-" + runtime.GOOS + "-"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A client that keeps its connection would look like a leaked goroutine.
		w.Header().Set("Connection", "close")
		switch {
		case !strings.HasPrefix(r.URL.Path, folder) || !strings.Contains(r.URL.Path, "/"+version+"/"):
			http.NotFound(w, r)
		case strings.HasSuffix(r.URL.Path, "-"+version+".jar"):
			fetched.Add(1)
			_, _ = w.Write(jar)
		case strings.HasSuffix(r.URL.Path, ".jar.sha256"):
			_, _ = w.Write([]byte(checksum))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL, fetched
}

func sum(jar []byte) string {
	s := sha256.Sum256(jar)
	return hex.EncodeToString(s[:])
}

// installation lists what a download has to hold, from this machine's own Postgres. A server looks for its libraries
// beside its folder, and for the rest, where that is not near, at the place it was built for.
func installation(t *testing.T) map[string]string {
	t.Helper()
	bin := findBinDirs(nil, os.Getenv("PATH"), usualBinDirs())[0]
	files := map[string]string{}
	for _, program := range []string{"initdb", "pg_ctl", "postgres"} {
		files["bin/"+program] = filepath.Join(bin, program)
	}
	libraries, err := filepath.Glob(filepath.Join(bin, "..", "lib", "*.so"))
	if err != nil {
		t.Fatal(err)
	}
	for _, library := range libraries {
		files["lib/"+filepath.Base(library)] = library
	}
	return files
}

func TestDownloadedBinariesRunAPrivateServerAndAreFetchedOnce(t *testing.T) {
	jar := archive(t, installation(t))
	const version = "15.99.0"
	url, fetched := repository(t, version, jar, sum(jar))
	temp, cache := tempFolder(t), t.TempDir() // root's cache is closed to the server's user, and so is this one
	for range 2 {
		started := time.Now()
		s := open(t, Options{Sources: []Kind{Download}, TempDir: temp,
			Download: DownloadOptions{RepositoryURL: url + "/", Version: version, CacheDir: cache}})
		t.Logf("opened in %s", time.Since(started))
		if got, want := s.Source(), "downloaded binaries "+version; got != want {
			t.Errorf("source is %q, want %q", got, want)
		}
		data := ask(t, s, `SHOW data_directory`)
		pids, err := processesIn(filepath.Dir(data)) // of the directory's owner, who is not root
		if err != nil || len(pids) == 0 {
			t.Errorf("no server works in %s: %v", data, err)
		}
		if as, err := serverAccount(); err != nil {
			t.Error(err)
		} else if as != nil && ownerOf(t, filepath.Dir(data)) != as.uid {
			t.Errorf("%s does not belong to %s", data, as.name)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(temp); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	if n := fetched.Load(); n != 1 {
		t.Errorf("fetched %d times, want once", n)
	}
}

func TestDownloadsThatWillNotDo(t *testing.T) {
	temp := tempFolder(t)
	script := filepath.Join(temp, "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	good := archive(t, map[string]string{"bin/postgres": script, "bin/initdb": script, "bin/pg_ctl": script})
	partial := archive(t, map[string]string{"bin/pg_ctl": script, "bin/postgres": script})
	const version = "15.99.0"
	for _, c := range []struct {
		name, version string
		jar           []byte
		checksum      string
		want          string
	}{
		{"because the repository has no such version", "15.98.0", good, sum(good), "no version found matching 15.98.0"},
		{"because the checksum differs", version, good, sum(partial), "checksums do not match"},
		{"because it is no archive", version, []byte("<html>"), sum([]byte("<html>")), "error fetching postgres"},
		{"because a program is missing in it", version, partial, sum(partial), "deleted"},
		{"because its programs do not run", version, good, sum(good), "initdb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url, _ := repository(t, version, c.jar, c.checksum)
			s, err := Open(t.Context(), Options{Sources: []Kind{Download}, TempDir: temp,
				Download: DownloadOptions{RepositoryURL: url, Version: c.version, CacheDir: t.TempDir()}})
			if err == nil {
				_ = s.Close()
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error says nothing of %q:\n%v", c.want, err)
			}
			if left, _ := filepath.Glob(filepath.Join(temp, directoryPrefix+"*")); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestADownloadMayBeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	asked, answer := make(chan struct{}), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-answer
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	go func() {
		<-asked
		cancel()
	}()
	temp := tempFolder(t)
	_, err := Open(ctx, Options{Sources: []Kind{Download}, TempDir: temp, Download: DownloadOptions{RepositoryURL: server.URL, CacheDir: t.TempDir()}})
	close(answer)
	if err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
