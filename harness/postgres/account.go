package postgres

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is the unprivileged user that runs a server in place of root. A nil account is ourselves.
type account struct {
	name     string
	uid, gid uint32
}

// serverAccount picks who runs the server. Postgres refuses to run as root, and initdb wants a user that the system's
// user list knows, so a bare number would not do.
func serverAccount() (*account, error) {
	return accountFor(os.Geteuid(), user.Lookup)
}

func accountFor(euid int, lookup func(name string) (*user.User, error)) (*account, error) {
	if euid != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := lookup(name)
		if err != nil {
			continue
		}
		// A 64-bit parse takes the negative numbers that some systems give to nobody.
		uid, err1 := strconv.ParseInt(u.Uid, 10, 64)
		gid, err2 := strconv.ParseInt(u.Gid, 10, 64)
		if err1 != nil || err2 != nil || uint32(uid) == 0 {
			continue
		}
		return &account{name, uint32(uid), uint32(gid)}, nil
	}
	return nil, errors.New("postgres refuses to run as root, and there is no user postgres or nobody to run it as: create one (useradd --system postgres)")
}

func (a *account) credential() *syscall.Credential {
	if a == nil {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// own gives a file or directory to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// ownAll gives a tree to the account.
func (a *account) ownAll(root string) error {
	if a == nil {
		return nil
	}
	return filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return a.own(path)
	})
}

// suffix tells in an error who we were acting as.
func (a *account) suffix() string {
	if a == nil {
		return ""
	}
	return fmt.Sprintf(" as user %s", a.name)
}
