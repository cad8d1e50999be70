package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	embedded "github.com/fergusstrange/embedded-postgres"
)

// DownloadOptions say where server binaries are fetched from and kept.
type DownloadOptions struct {
	// RepositoryURL of a Maven repository that holds the embedded-postgres binaries. Empty means the library's own.
	RepositoryURL string

	// Version such as 17.5.0. Empty means defaultVersion.
	Version string

	// CacheDir keeps the downloaded archive between runs. Empty means the folder assay-postgres in the user's cache.
	CacheDir string
}

const (
	defaultVersion = string(embedded.V17)

	// downloadTimeout covers some 30 MB on a slow line.
	downloadTimeout = 5 * time.Minute
)

// openDownload fetches binaries and starts a private server from them.
//
// Of the library we use the search and the unpacking. It would start the server with a fixed password and as whoever we
// are, root included; our own way of starting has neither fault, and ends with us.
func openDownload(ctx context.Context, o Options) (*Server, error) {
	d := o.Download
	if d.Version == "" {
		d.Version = defaultVersion
	}
	if !regexp.MustCompile(`^[0-9]+(\.[0-9]+)*$`).MatchString(d.Version) {
		return nil, fmt.Errorf("version %q: expected numbers such as %s", d.Version, defaultVersion)
	}
	if d.CacheDir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("finding a folder for downloads: %w", err)
		}
		d.CacheDir = filepath.Join(cache, "assay-postgres")
	}
	as, err := serverAccount()
	if err != nil {
		return nil, err
	}
	// Unpacked beside the cluster rather than in the cache: root's cache is closed to the server's user.
	dir, err := newDirectory(o.TempDir, as)
	if err != nil {
		return nil, err
	}
	if err := fetch(ctx, d, dir.path); err != nil {
		return nil, errors.Join(err, dir.remove())
	}
	programs := filepath.Join(dir.path, "software")
	if err := as.ownAll(programs); err != nil {
		return nil, errors.Join(fmt.Errorf("giving downloaded binaries to their user: %w", err), dir.remove())
	}
	return startPrivate(ctx, o, dir, as, filepath.Join(programs, "bin"), "downloaded binaries "+d.Version)
}

// fetch downloads an archive, unless the cache has it, and unpacks it into dir/software.
//
// The library has one entry, which goes on to run initdb. A data path with a NUL byte, which no system takes, makes it
// fail right after the unpacking, before any program runs; what then counts is whether the programs are there.
func fetch(ctx context.Context, d DownloadOptions, dir string) error {
	software := filepath.Join(dir, "software")
	config := embedded.DefaultConfig().
		Version(embedded.PostgresVersion(d.Version)).
		CachePath(d.CacheDir).
		RuntimePath(filepath.Join(dir, "runtime")).
		BinariesPath(software).
		DataPath("unpack only\x00").
		Logger(io.Discard)
	if d.RepositoryURL != "" {
		config = config.BinaryRepositoryURL(strings.TrimRight(d.RepositoryURL, "/"))
	}
	// It also insists on a free port, though it never comes to use it.
	port, err := freePort()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("unpacking binaries of Postgres %s: %v", d.Version, p)
			}
		}()
		done <- embedded.NewDatabase(config.Port(uint32(port))).Start()
	}()
	timer := time.NewTimer(downloadTimeout)
	defer timer.Stop()
	select {
	case err = <-done:
	case <-ctx.Done():
		// The library cannot be interrupted. What it still writes goes to the directory, which the next sweep removes
		// should it come back after we have removed it.
		return fmt.Errorf("downloading binaries of Postgres %s: %w", d.Version, context.Cause(ctx))
	case <-timer.C:
		return fmt.Errorf("downloading binaries of Postgres %s: not done after %s", d.Version, downloadTimeout)
	}
	if isProgram(filepath.Join(software, "bin", "postgres")) && isProgram(filepath.Join(software, "bin", "initdb")) {
		return nil
	}
	if err == nil {
		err = errors.New("the archive holds no bin/postgres and bin/initdb")
	}
	return fmt.Errorf("downloading binaries of Postgres %s for this system: %w (a damaged archive stays in %s until it is deleted)",
		d.Version, err, d.CacheDir)
}
