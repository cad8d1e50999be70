package postgres

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// ask reads one value over a connection of its own.
func ask(t *testing.T, s *Server, query string, args ...any) (text string) {
	t.Helper()
	conn, err := s.Admin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), query, args...).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestALocalServerIsPrivateRoomyAndLeavesNothingBehind(t *testing.T) {
	temp := tempFolder(t)
	s := open(t, Options{Sources: []Kind{Local}, TempDir: temp})

	if !strings.HasPrefix(s.Source(), "local binaries /") {
		t.Errorf("source is %q", s.Source())
	}
	if s.Version() < minVersion {
		t.Errorf("version is %d", s.Version())
	}
	if n, _ := strconv.Atoi(ask(t, s, `SHOW max_connections`)); n < 200 {
		t.Errorf("max_connections is %d, want at least 200", n)
	}
	if got := ask(t, s, `SHOW listen_addresses`); got != loopback {
		t.Errorf("it listens on %q, want loopback alone", got)
	}
	if got := ask(t, s, `SHOW unix_socket_directories`); got != "" {
		t.Errorf("it has a socket in %q", got)
	}
	if got := ask(t, s, `SELECT rolsuper::text FROM pg_roles WHERE rolname = current_user`); got != "true" {
		t.Errorf("Admin is no superuser")
	}
	if got := ask(t, s, `SELECT string_agg(DISTINCT auth_method, ' ') FROM pg_hba_file_rules`); got != "scram-sha-256" {
		t.Errorf("it lets in by %q, want scram-sha-256 alone", got)
	}

	data := ask(t, s, `SHOW data_directory`)
	dir := filepath.Dir(data)
	if filepath.Dir(dir) != temp {
		t.Errorf("it works in %s, want a folder in %s", dir, temp)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("its folder is open to others: %v %v", info.Mode(), err)
	}
	if exists(filepath.Join(dir, "password")) {
		t.Errorf("the password file is still there")
	}
	port := s.address.url.Port()

	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if conn, err := net.Dial("tcp", net.JoinHostPort(loopback, port)); err == nil {
		_ = conn.Close()
		t.Errorf("something still listens on port %s", port)
	}
	if _, err := s.CreateDatabase(t.Context(), "late"); err == nil {
		t.Errorf("a closed server created a database")
	}
}

// tempFolder is like t.TempDir, but any user can reach it, as the server's user must.
func tempFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "assay-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o1777); err != nil {
		t.Fatal(err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestAServerNeverRunsAsRoot(t *testing.T) {
	s := open(t, Options{Sources: []Kind{Local}, TempDir: tempFolder(t)})
	want := uint32(os.Geteuid())
	if as, err := serverAccount(); err != nil {
		t.Fatal(err)
	} else if as != nil {
		want = as.uid
	}
	if want == 0 {
		t.Fatal("the server's user is root")
	}
	data := ask(t, s, `SHOW data_directory`)
	pids, err := processesIn(filepath.Dir(data))
	if err != nil {
		t.Fatal(err)
	}
	const few = 4 // shell, watcher, server, at least one worker
	if len(pids) < few {
		t.Fatalf("processes of user %d in %s: %v", want, data, pids)
	}
	for _, path := range []string{data, filepath.Join(data, "base"), filepath.Dir(data)} {
		if got := ownerOf(t, path); got != want {
			t.Errorf("%s belongs to user %d, want %d", path, got, want)
		}
	}
}

func TestAnOrdinaryUserRunsItsServerItself(t *testing.T) {
	temp := tempFolder(t)
	cmd := helperCommand(t, helperTask{Sources: []Kind{Local}, TempDir: temp})
	asNobody(t, cmd)
	run := startRun(t, cmd)
	if got, want := ownerOf(t, run.Directory), cmd.SysProcAttr.Credential.Uid; got != want {
		t.Errorf("the data directory belongs to user %d, want %d", got, want)
	}
	// Root's sweep sees a directory of a user that is not its own server's.
	sweepDirectories(t.Context(), Options{TempDir: temp, Log: slog.New(slog.DiscardHandler)})
	if !exists(run.Directory) {
		t.Errorf("a live server was swept")
	}
	run.interrupt(t)
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTheServersUser(t *testing.T) {
	users := func(known ...user.User) func(string) (*user.User, error) {
		return func(name string) (*user.User, error) {
			for _, u := range known {
				if u.Username == name {
					return &u, nil
				}
			}
			return nil, user.UnknownUserError(name)
		}
	}
	postgres := user.User{Username: "postgres", Uid: "101", Gid: "104"}
	nobody := user.User{Username: "nobody", Uid: "-2", Gid: "-2"}
	for _, c := range []struct {
		name   string
		euid   int
		lookup func(string) (*user.User, error)
		want   *account
		err    string
	}{
		{"is ourselves when we are not root", 1000, users(postgres), nil, ""},
		{"is postgres when we are root", 0, users(nobody, postgres), &account{"postgres", 101, 104}, ""},
		{"is nobody where there is no postgres, whatever its number", 0, users(nobody), &account{"nobody", 4294967294, 4294967294}, ""},
		{"is not a postgres that is root by another name", 0, users(user.User{Username: "postgres", Uid: "0", Gid: "0"}, nobody), &account{"nobody", 4294967294, 4294967294}, ""},
		{"is missing where there is neither, and the error says what to do", 0, users(), nil, "useradd"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := accountFor(c.euid, c.lookup)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if (got == nil) != (c.want == nil) || got != nil && *got != *c.want {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAWrongPasswordIsRefused(t *testing.T) {
	given, _ := givenServer(t)
	config, err := pgx.ParseConfig(given)
	if err != nil {
		t.Fatal(err)
	}
	for _, password := range []string{"", "postgres", config.Password + "x"} {
		config.Password = password
		conn, err := pgx.ConnectConfig(t.Context(), config)
		if err == nil {
			_ = conn.Close(t.Context())
			t.Fatalf("password %q opened the server", password)
		}
		var pg *pgconn.PgError
		if password != "" && (!errors.As(err, &pg) || pg.Code != "28P01") {
			t.Fatalf("refused for another reason: %v", err)
		}
	}
}

func TestSettingsReachTheServer(t *testing.T) {
	s := open(t, Options{Sources: []Kind{Local}, TempDir: tempFolder(t),
		Settings: map[string]string{"fsync": "on", "max_connections": "250", "assay.words": `two words, 'a quote' and a \`}})
	for name, want := range map[string]string{"fsync": "on", "max_connections": "250", "assay.words": `two words, 'a quote' and a \`, "jit": "off"} {
		if got := ask(t, s, `SELECT current_setting($1)`, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestASettingThatPostgresRefusesIsExplainedByItsLog(t *testing.T) {
	temp := tempFolder(t)
	_, err := Open(t.Context(), Options{Sources: []Kind{Local}, TempDir: temp, Settings: map[string]string{"shared_bufers": "1GB"}})
	if err == nil || !strings.Contains(err.Error(), `unrecognized configuration parameter "shared_bufers"`) {
		t.Fatalf("error %v, want the server's own words", err)
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestTheEndOfTheContextClosesTheServer(t *testing.T) {
	temp := tempFolder(t)
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Open(ctx, Options{Sources: []Kind{Local}, TempDir: temp})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	eventually(t, "the server's folder is gone", func() bool {
		left, err := os.ReadDir(temp)
		return err == nil && len(left) == 0
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAnInterruptedStartLeavesNothingBehind(t *testing.T) {
	for _, after := range []time.Duration{0, 50 * time.Millisecond, 300 * time.Millisecond} {
		t.Run(fmt.Sprintf("after %s", after), func(t *testing.T) {
			temp := tempFolder(t)
			ctx, cancel := context.WithTimeout(t.Context(), after)
			defer cancel()
			s, err := Open(ctx, Options{Sources: []Kind{Local, Container, Download}, TempDir: temp})
			if err == nil { // a very fast machine
				_ = s.Close()
			} else if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("error %v, want one that says why it stopped", err)
			}
			if left, _ := os.ReadDir(temp); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestCloseMayBeCalledByMany(t *testing.T) {
	s := open(t, Options{Sources: []Kind{Local}, TempDir: tempFolder(t)})
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if _, err := s.Admin(context.Background()); err == nil {
				t.Error("Close returned before the server had ended")
			}
		})
	}
	group.Wait()
}

func TestAPortThatIsTakenMeanwhileIsNotTheEnd(t *testing.T) {
	taken, err := net.Listen("tcp4", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	as, err := serverAccount()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := newDirectory(tempFolder(t), as)
	if err != nil {
		t.Fatal(err)
	}
	picks := 0
	p := &private{
		binDir: findBinDirs(nil, os.Getenv("PATH"), usualBinDirs())[0], dir: dir, as: as, password: randomHex(16),
		pick: func() (int, error) {
			if picks++; picks == 1 {
				return taken.Addr().(*net.TCPAddr).Port, nil
			}
			return freePort()
		},
	}
	if err := p.init(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := p.startOnFreePort(t.Context()); err != nil {
		t.Fatal(err)
	}
	if picks != 2 {
		t.Errorf("picked %d ports, want 2", picks)
	}
	if err := p.stop(); err != nil {
		t.Fatal(err)
	}
}

// ownerOf is the number of the user whom a file belongs to.
func ownerOf(t *testing.T, path string) uint32 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Uid
}
