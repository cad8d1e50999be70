package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// usualBinDirs are where packages put the server programs without a link in PATH, as patterns.
func usualBinDirs() []string {
	return []string{
		"/usr/lib/postgresql/*/bin",          // Debian, Ubuntu
		"/usr/pgsql-*/bin",                   // the Postgres project's RPMs
		"/opt/homebrew/opt/postgresql@*/bin", // Homebrew on Apple silicon
		"/opt/homebrew/opt/postgresql/bin",   //
		"/usr/local/opt/postgresql@*/bin",    // Homebrew on Intel
		"/usr/local/opt/postgresql/bin",      //
		"/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin",
		"/Applications/Postgres.app/Contents/Versions/*/bin",
		"/usr/local/pgsql/bin", // built from source
	}
}

// openLocal starts a private server from binaries on this machine. A folder whose server does not start does not end
// the search.
func openLocal(ctx context.Context, o Options) (*Server, error) {
	dirs := findBinDirs(o.BinDirs, os.Getenv("PATH"), o.usual)
	if len(dirs) == 0 {
		return nil, errors.New("no folder holds both initdb and postgres; looked at " +
			strings.Join(slices.Concat(o.BinDirs, []string{"PATH"}, o.usual), ", "))
	}
	var errs []error
	for _, dir := range dirs {
		s, err := startIn(ctx, o, dir)
		if err == nil {
			return s, nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", dir, err))
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

func startIn(ctx context.Context, o Options, binDir string) (*Server, error) {
	as, err := serverAccount()
	if err != nil {
		return nil, err
	}
	dir, err := newDirectory(o.TempDir, as)
	if err != nil {
		return nil, err
	}
	return startPrivate(ctx, o, dir, as, binDir, "local binaries "+binDir)
}

// findBinDirs lists folders that hold the server programs: the given ones, then those of PATH, then the usual places,
// newest version first. Links are followed, because a server finds its own files beside its real place, and so that
// one installation counts once.
func findBinDirs(given []string, path string, patterns []string) []string {
	candidates := slices.Clone(given)
	for _, dir := range filepath.SplitList(path) {
		if filepath.IsAbs(dir) { // a relative one would depend on where we were started
			candidates = append(candidates, dir)
		}
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern) // fails only on a malformed pattern
		slices.SortStableFunc(found, func(a, b string) int { return versionIn(b) - versionIn(a) })
		candidates = append(candidates, found...)
	}
	var dirs []string
	for _, dir := range candidates {
		postgres, err := filepath.EvalSymlinks(filepath.Join(dir, "postgres"))
		if err != nil || !isProgram(postgres) {
			continue
		}
		real := filepath.Dir(postgres)
		if isProgram(filepath.Join(real, "initdb")) && !slices.Contains(dirs, real) {
			dirs = append(dirs, real)
		}
	}
	return dirs
}

// isProgram is true for a regular file that somebody may execute.
func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// versionIn reads the major version out of a folder's path, 0 where there is none: 15 of /usr/lib/postgresql/15/bin.
func versionIn(path string) int {
	for _, part := range slices.Backward(strings.Split(path, "/")) {
		digits := strings.TrimLeft(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ@-")
		digits, _, _ = strings.Cut(digits, ".")
		if n, err := strconv.Atoi(digits); err == nil {
			return n
		}
	}
	return 0
}
