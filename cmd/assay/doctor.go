package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"assay/harness/postgres"

	"github.com/spf13/cobra"
)

// finding is one line of doctor.
type finding struct {
	What   string `json:"what"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func (p *program) doctorCommand() *cobra.Command {
	var asJSON bool
	var database string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine has of what a run needs",
		Long: `Say what this machine has of what a run needs, by trying it. Downloaded Postgres binaries are the
last resort of a run and are not tried here.

Exit status: 0 when a run with no flags finds a Postgres without downloading one, else 1.`,
		Args: none,
		RunE: func(c *cobra.Command, _ []string) error {
			all := examine(c.Context(), database)
			for _, f := range all {
				if f.What == "postgres" && !f.OK {
					p.status = statusFailed
				}
			}
			if asJSON {
				return writeJSON(p.stdout, all)
			}
			for _, f := range all {
				mark := "ok"
				if !f.OK {
					mark = "no"
				}
				if _, err := fmt.Fprintf(p.stdout, "%s  %-22s %s\n", mark, f.What, visible(f.Detail)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON")
	c.Flags().StringVar(&database, "database", "", "try the Postgres at this `URL` too")
	return c
}

// examine tries everything that a run may need.
func examine(ctx context.Context, database string) []finding {
	all := []finding{
		{"program", true, fmt.Sprintf("%s, %s, %s/%s, %d processors, user %d", tool(), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), os.Getuid())},
		onPath("shell", "sh", "starts subjects"),
		writable(),
	}
	any := finding{"postgres", false, "none of the ways below works: a run would try to download one"}
	ways := []struct {
		name    string
		options postgres.Options
	}{
		{"postgres, local", postgres.Options{Sources: []postgres.Kind{postgres.Local}}},
		{"postgres, container", postgres.Options{Sources: []postgres.Kind{postgres.Container}}},
	}
	if database != "" {
		ways = append(ways[:0:0], struct {
			name    string
			options postgres.Options
		}{"postgres, given", postgres.Options{URL: database}})
	}
	var tried []finding
	for _, w := range ways {
		f := try(ctx, w.name, w.options)
		if f.OK && !any.OK {
			any = finding{"postgres", true, f.Detail}
		}
		tried = append(tried, f)
	}
	return append(append(all, any), tried...)
}

// onPath looks for one program on the path.
func onPath(what, name, purpose string) finding {
	path, err := exec.LookPath(name)
	if err != nil {
		return finding{what, false, fmt.Sprintf("%s is not on the path; it %s", name, purpose)}
	}
	return finding{what, true, path}
}

func writable() finding {
	f, err := os.CreateTemp("", "assay-doctor-*")
	if err != nil {
		return finding{"temporary files", false, err.Error()}
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return finding{"temporary files", false, err.Error()}
	}
	return finding{"temporary files", true, os.TempDir()}
}

// try opens a server in one way and closes it again.
func try(ctx context.Context, what string, o postgres.Options) finding {
	const patience = time.Minute // a container engine may fetch its image first
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("gave up after %s", patience))
	defer cancel()
	server, err := postgres.Open(ctx, o)
	if err != nil {
		var none *postgres.NoServerError
		if errors.As(err, &none) {
			err = errors.Join(none.Unwrap()...) // the one way that was tried, without the advice
		}
		return finding{what, false, err.Error()}
	}
	detail := fmt.Sprintf("%s, version %d.%d", server.Source(), server.Version()/10000, server.Version()%10000)
	if err := server.Close(); err != nil {
		return finding{what, false, detail + ": " + err.Error()}
	}
	return finding{what, true, detail}
}
