// Package serve runs the reference backend as a process does: it opens the
// database, brings its schema up to date, listens, and drains when it is asked
// to stop. Start with [Run].
//
// It reads no flags and no signals: a caller hands in a configuration and a
// context that ends.
package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/impl/backend/store"
	"assay/impl/backend/stream"
	"assay/impl/chain"
	"assay/impl/identity"
	"assay/impl/postgres"
)

// Options are what a run of a backend needs beside its configuration.
type Options struct {
	Log *slog.Logger
	// Ready is called once with the address that is listened on, when calls
	// will be answered. It may be nil.
	Ready func(net.Addr)
	// Mutate breaks a part on purpose; nil for a correct backend.
	Mutate func(*backend.Parts, *config.Config)
}

// Run serves until ctx ends, and then drains. Any number of backends may run on
// one database, also from the moment it was created.
func Run(ctx context.Context, c config.Config, o Options) error {
	if err := c.Validate(); err != nil {
		return err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	database := postgres.Options{
		URL:                c.Database.URL,
		MaxConnections:     int(c.Database.MaxConnections),
		StatementTimeout:   c.Database.StatementTimeout(),
		TransactionTimeout: c.Publishing.Budget(),
		Application:        "assay-backend",
	}
	db, err := store.Open(ctx, database)
	if err != nil {
		return fmt.Errorf("database.url: %w", err)
	}
	defer db.Close()
	streams, err := db.Streams(ctx, database, c.Database.ReplicaURL)
	if err != nil {
		return fmt.Errorf("database for streams: %w", err)
	}
	defer streams.Close()
	chains, err := chain.New(chain.Config{Routes: c.Chains, Timeout: c.Validation.ChainTimeout(), CacheEntries: int(c.Validation.MaxSCWCacheEntries)})
	if err != nil {
		return fmt.Errorf("chains: %w", err)
	}
	defer chains.Close()
	parts := backend.Standard(db, c)
	parts.KeyPackages = backend.KeyPackageRules(time.Now)
	parts.IdentityRules = identity.ReferenceRules()
	parts.Identity = &identityRules{}
	parts.Wallets = wallets{chains}
	subscriptions := stream.New(streams, streams.Log(), &c, o.Log)
	parts.Subscription = subscriptions
	late := parts.Identity.(*identityRules)
	if o.Mutate != nil {
		o.Mutate(&parts, &c)
	}
	late.IdentityValidator = backend.IdentityRules(identity.NewValidator(identity.Config{
		Rules:               parts.IdentityRules,
		Wallets:             chains,
		MaxWalletSignatures: int(c.Limits.MaxSCWSignatures),
		Remember:            int(c.Validation.MaxIdentityCacheEntries),
	}))
	server, err := backend.New(parts, c, o.Log)
	if err != nil {
		return err
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "tcp", c.Server.Listen)
	if err != nil {
		return fmt.Errorf("server.listen: %w", err)
	}
	// Streams need their feed until they have ended.
	feeding, stopFeeding := context.WithCancel(context.WithoutCancel(ctx))
	var fed sync.WaitGroup
	defer fed.Wait()
	defer stopFeeding()
	fed.Go(func() { subscriptions.Run(feeding) })
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	o.Log.InfoContext(ctx, "serving", "address", l.Addr().String())
	if o.Ready != nil {
		o.Ready(l.Addr())
	}
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	o.Log.Info("draining")
	draining, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.Server.DrainTimeout())
	defer cancel()
	return errors.Join(server.Drain(draining), <-served)
}

// identityRules stands where the validator of identity updates will be, so that
// a mutant can change the rules it is made of, or put something around it.
type identityRules struct{ backend.IdentityValidator }
