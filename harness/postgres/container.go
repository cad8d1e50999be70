package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// ContainerOptions say which container to run.
type ContainerOptions struct {
	// Image to run, by default the official one. What we rely on: it reads POSTGRES_USER and POSTGRES_PASSWORD, listens
	// on port 5432, and takes a command of "postgres" and the server's arguments.
	Image string
}

const (
	// defaultImage has no registry in its name: which registry answers is the container engine's business.
	defaultImage = "postgres:17-alpine"

	containerPort = "5432/tcp"

	// containerLabel marks our containers, with a value that is in the container's directory too: a sweep removes
	// exactly the container whose directory has lost its owner.
	containerLabel = "assay.postgres"
	containerFile  = "container" // in the directory, holds the label's value

	// pullTimeout covers the download of the image on a slow line.
	pullTimeout          = 5 * time.Minute
	containerTimeout     = 60 * time.Second // from the start of the container until the server answers
	containerStopTimeout = 2 * time.Second  // what the server would still do is not worth waiting for
)

// init silences the library's banner: talk on stderr is ours to give, through Options.Log. The library offers no other
// way, and its logger is a global that may not be changed once it is in use.
func init() {
	tclog.SetDefault(tclog.NewNoopLogger())
}

// containerLog passes the library's talk on.
type containerLog struct{ log *slog.Logger }

func (l containerLog) Printf(format string, v ...any) {
	l.log.Debug("container", "says", strings.TrimSpace(fmt.Sprintf(format, v...)))
}

// engine is what we need of the library's providers.
type engine interface {
	CreateContainer(context.Context, testcontainers.ContainerRequest) (testcontainers.Container, error)
	DaemonHost(context.Context) (string, error)
	Close() error
}

// openContainer runs a server in a container. How to reach the engine is found as Docker's own tools find it.
func openContainer(ctx context.Context, o Options) (s *Server, err error) {
	image := o.Container.Image
	if image == "" {
		image = defaultImage
	}
	// The library panics where it finds no engine in some surroundings; for us that is one way among several.
	defer func() {
		if p := recover(); p != nil {
			s, err = nil, fmt.Errorf("no container engine: %v", p)
		}
	}()
	pull, cancel := context.WithTimeoutCause(ctx, pullTimeout, fmt.Errorf("not done after %s", pullTimeout))
	defer cancel()
	found, err := testcontainers.ProviderDefault.GetProvider(testcontainers.WithLogger(containerLog{o.Log}))
	if err != nil {
		return nil, fmt.Errorf("no container engine: %w", err)
	}
	provider, ok := found.(engine)
	if !ok {
		return nil, fmt.Errorf("no container engine: unexpected provider %T", found)
	}
	defer provider.Close()
	host, err := provider.DaemonHost(pull)
	if err != nil {
		return nil, fmt.Errorf("finding the container engine's host: %w", err)
	}
	// The directory stays empty but for the label. Its lock is how a sweep knows whether we live: some engines run
	// without the library's own reaper.
	dir, err := newDirectory(o.TempDir, nil)
	if err != nil {
		return nil, err
	}
	c := &containerServer{dir: dir, label: randomHex(16), password: randomHex(16)}
	if err := os.WriteFile(filepath.Join(dir.path, containerFile), []byte(c.label), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("noting a container down: %w", err), dir.remove())
	}
	a, err := c.run(pull, provider, image, host, o.Settings)
	if err == nil {
		s, err = newServer(ctx, o, a, "container "+image, c.stop)
	}
	if err != nil {
		return nil, errors.Join(err, c.stop())
	}
	return s, nil
}

// containerServer is a server in a container of ours.
type containerServer struct {
	dir       *directory
	label     string
	password  string
	container testcontainers.Container
}

func (c *containerServer) run(ctx context.Context, provider engine, image, host string, settings map[string]string) (address, error) {
	request := testcontainers.ContainerRequest{
		Image:        image,
		Cmd:          append([]string{"postgres"}, settingArgs(settings)...),
		Env:          map[string]string{"POSTGRES_USER": superuser, "POSTGRES_PASSWORD": c.password},
		Labels:       map[string]string{containerLabel: c.label},
		ExposedPorts: []string{containerPort},
		HostConfigModifier: func(h *container.HostConfig) {
			// An engine on this machine publishes the port to this machine alone. Another host's loopback would be out
			// of our reach; there the password has to do.
			if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
				h.PortBindings = network.PortMap{network.MustParsePort(containerPort): {{HostIP: netip.MustParseAddr(loopback)}}}
			}
		},
	}
	var err error
	if c.container, err = provider.CreateContainer(ctx, request); err != nil {
		err = fmt.Errorf("creating a container of image %s: %w", image, err)
		if strings.Contains(err.Error(), "reaper") {
			err = fmt.Errorf("%w (where no registry is reached, TESTCONTAINERS_RYUK_DISABLED=true does without the reaper's image; our own sweep takes its place)", err)
		}
		return address{}, err
	}
	if err := c.container.Start(ctx); err != nil {
		return address{}, fmt.Errorf("starting a container of image %s: %w", image, err)
	}
	port, err := c.container.MappedPort(ctx, containerPort)
	if err != nil {
		return address{}, fmt.Errorf("finding the port of a container of image %s: %w", image, err)
	}
	// Inside a container the library guesses that its gateway is the engine's host, which need not be so; where the
	// engine is on this machine loopback answers, and where not it refuses at once.
	here := newAddress(loopback, int(port.Num()), superuser, c.password, superuser)
	there := newAddress(host, int(port.Num()), superuser, c.password, superuser)
	w := waiting{timeout: containerTimeout, try: 5 * time.Second, pause: 50 * time.Millisecond, ended: c.ended}
	a, err := awaitAnswer(ctx, w, here, there)
	if err != nil {
		return address{}, fmt.Errorf("a container of image %s: %w; its log ends:\n%s", image, err, c.logTail(ctx))
	}
	return a, nil
}

// ended reports a container whose server gave up.
func (c *containerServer) ended(ctx context.Context) error {
	state, err := c.container.State(ctx)
	if err != nil {
		return fmt.Errorf("asking for its state: %w", err)
	}
	if !state.Running {
		return fmt.Errorf("it ended with status %d while starting", state.ExitCode)
	}
	return nil
}

// logTail is the end of the container's output, without its password should the image print its environment.
func (c *containerServer) logTail(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	r, err := c.container.Logs(ctx)
	if err != nil {
		return "(no log: " + err.Error() + ")"
	}
	defer r.Close()
	const limit = 1 << 20
	text, _ := io.ReadAll(io.LimitReader(r, limit))
	return tail(bytes.ReplaceAll(text, []byte(c.password), []byte("(password)")))
}

// stop removes the container and its volume, then the directory that stood for it.
func (c *containerServer) stop() error {
	if c.container != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if err := c.container.Terminate(ctx, testcontainers.StopTimeout(containerStopTimeout)); err != nil {
			// The directory stays, so that a later sweep tries again.
			_ = c.dir.lock.Close()
			return fmt.Errorf("removing a container: %w", err)
		}
	}
	return c.dir.remove()
}

// removeLeftContainer removes the container that a directory without an owner stands for, if it stands for one.
func removeLeftContainer(ctx context.Context, dir string) (err error) {
	label, err := os.ReadFile(filepath.Join(dir, containerFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("removing a container: no container engine: %v", p)
		}
	}()
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return fmt.Errorf("removing a container: %w", err)
	}
	defer docker.Close()
	found, err := docker.ContainerList(ctx, client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", containerLabel+"="+string(label)),
	})
	if err != nil {
		return fmt.Errorf("looking for a container: %w", err)
	}
	for _, c := range found.Items {
		if _, err := docker.ContainerRemove(ctx, c.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil {
			return fmt.Errorf("removing container %s: %w", c.ID, err)
		}
	}
	return nil
}
