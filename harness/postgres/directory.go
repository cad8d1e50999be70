package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"
)

// directoryPrefix begins the name of every directory that holds a private server or stands for a container.
const directoryPrefix = "assay-postgres-"

// directory is a temporary directory that belongs to a live run exactly as long as an exclusive flock on it is held.
// The kernel frees the lock when its holder dies, however it dies, and never before; process numbers and times
// promise neither.
type directory struct {
	path string
	lock *os.File // close-on-exec: no child keeps the directory looking alive
}

// newDirectory makes a directory that only its user can enter, locks it, and gives it to the account that will work in it.
func newDirectory(parent string, as *account) (*directory, error) {
	parent, err := filepath.Abs(parent)
	if err != nil {
		return nil, fmt.Errorf("finding the folder for a private server: %w", err)
	}
	// A sweep may find the directory before we hold its lock, and takes it for abandoned. It is empty then, and we make
	// another.
	const attempts = 8
	for range attempts {
		path, err := os.MkdirTemp(parent, directoryPrefix)
		if err != nil {
			return nil, fmt.Errorf("making a folder for a private server: %w", err)
		}
		lock, err := lockDirectory(path)
		if errors.Is(err, errInUse) || errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			_ = os.Remove(path)
			return nil, err
		}
		d := &directory{path, lock}
		if err := as.own(path); err != nil {
			return nil, errors.Join(fmt.Errorf("giving a private server's folder to its user: %w", err), d.remove())
		}
		return d, nil
	}
	return nil, fmt.Errorf("making a folder for a private server in %s: sweeps of other runs took it away %d times in a row", parent, attempts)
}

// remove deletes the directory and everything in it, then frees the lock. Removing it again is fine.
func (d *directory) remove() error {
	err := os.RemoveAll(d.path)
	_ = d.lock.Close()
	if err != nil {
		return fmt.Errorf("removing a private server's folder: %w", err)
	}
	return nil
}

var errInUse = errors.New("another process holds the lock")

// lockDirectory takes the lock if nobody has it. A directory that was removed before the lock was ours is
// os.ErrNotExist: its lock means nothing any more.
func lockDirectory(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		_ = f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errInUse
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	opened, err1 := f.Stat()
	there, err2 := os.Lstat(path)
	if err := errors.Join(err1, err2); err != nil {
		_ = f.Close()
		return nil, err
	}
	if !os.SameFile(opened, there) {
		_ = f.Close()
		return nil, os.ErrNotExist
	}
	return f, nil
}

// sweepDirectories removes what killed runs left in the temporary folder: directories whose lock is free, with the
// server or container that may still run there. What goes wrong is told, and stops nothing.
func sweepDirectories(ctx context.Context, o Options) {
	ctx, cancel := context.WithTimeout(ctx, sweepTimeout)
	defer cancel()
	paths, _ := filepath.Glob(filepath.Join(o.TempDir, directoryPrefix+"*")) // fails only on a malformed pattern
	for _, path := range paths {
		switch removed, err := sweepDirectory(ctx, path); {
		case err != nil:
			o.Log.Warn("sweep of private servers", "directory", path, "error", err)
		case removed:
			o.Log.Info("removed the private server of a run that is gone", "directory", path)
		}
	}
}

// sweepDirectory removes one directory if its lock is free and it is ours to remove.
func sweepDirectory(ctx context.Context, path string) (removed bool, err error) {
	if !ours(path) {
		return false, nil
	}
	lock, err := lockDirectory(path)
	if errors.Is(err, errInUse) || errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d := &directory{path, lock}
	if err := endProcesses(ctx, path); err != nil {
		_ = lock.Close() // stays for the next sweep
		return false, err
	}
	if err := removeLeftContainer(ctx, path); err != nil {
		_ = lock.Close()
		return false, err
	}
	return true, d.remove()
}

// ours is true for a real directory of a user we would run a server as. The temporary folder is open to everybody: what
// another user put there must not make a root process end programs or delete files.
func ours(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	owners := []uint32{uint32(os.Geteuid())}
	if as, err := serverAccount(); err == nil && as != nil {
		owners = append(owners, as.uid)
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && slices.Contains(owners, stat.Uid)
}

// endProcesses stops the server that works in a directory, if one still runs there although nobody holds its lifeline:
// its shell was killed too, or is just about to stop it.
func endProcesses(ctx context.Context, dir string) error {
	const pause = 10 * time.Millisecond
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	deadline := time.NewTimer(stopTimeout)
	defer deadline.Stop()
	signalled := map[int]bool{}
	signal := syscall.SIGQUIT // Postgres's immediate shutdown; ends initdb and a shell as well
	for {
		pids, err := processesIn(dir)
		if errors.Is(err, os.ErrNotExist) { // a shell has stopped the server and removed its directory
			return nil
		}
		if err != nil {
			return fmt.Errorf("looking for processes in %s: %w", dir, err)
		}
		if len(pids) == 0 {
			return nil
		}
		for _, pid := range pids {
			if !signalled[pid] {
				signalled[pid] = true
				if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
					return fmt.Errorf("stopping process %d in %s: %w", pid, dir, err)
				}
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("stopping the server in %s: %w", dir, context.Cause(ctx))
		case <-deadline.C:
			if signal == syscall.SIGKILL {
				return fmt.Errorf("processes %v in %s do not stop", pids, dir)
			}
			signal, signalled = syscall.SIGKILL, map[int]bool{}
			deadline.Reset(stopTimeout)
		case <-ticker.C:
		}
	}
}
