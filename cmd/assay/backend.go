package main

import (
	"context"
	"time"

	"assay/harness/backend"
	"assay/harness/backend/chain"
	"assay/harness/run"
	"assay/impl/backend/config"
	"assay/impl/backend/mutants"
	"assay/impl/backend/serve"
	scenarios "assay/scenarios/backend"
	specbackend "assay/spec/backend"

	"github.com/spf13/pflag"
)

// backendSuite wires the XMTP backend API.
func backendSuite() (suite, error) {
	s, err := backend.New(scenarios.All)
	return suite{
		Suite:     s,
		reference: `ASSAY_DATABASE_URL={database} exec "$ASSAY_SELF" serve backend --server.log_level warn --listen {listen} --limits {limits} --keepalive-ms {keepalive_ms} --chain {chain} --chain-id {chain_id}`,
		keepalive: 30 * time.Second, // specification, section 11
		sources:   specbackend.Proto,
		serve:     serveBackend,
		mutants:   backendMutants(),
		chain: func(ctx context.Context) (run.Chain, error) {
			return chain.Start(ctx, "127.0.0.1:0")
		},
		serveChain: chain.Serve,
		permanent:  "identity updates, commits, proposals and commit-log entries that this run published never expire (API-021); their topics belong to this run alone",
	}, err
}

// backendMutants lists what serveBackend knows by name.
func backendMutants() []run.Mutant {
	var out []run.Mutant
	for _, m := range mutants.All() {
		out = append(out, run.Mutant{Name: m.Name, Summary: m.Summary, Requirements: m.Requirements})
	}
	return out
}

func serveBackend(set *pflag.FlagSet) func(ctx context.Context, s serving) error {
	flags := config.Bind(set)
	return func(ctx context.Context, s serving) error {
		c, err := flags.Load(s.lookup)
		if c.Database.URL == "" && c.Server.Listen != "" {
			// Everything was read, and only Validate found that no database is named.
			if c.Database.URL, err = s.database(ctx); err != nil {
				return err
			}
			err = c.Validate()
		}
		if err != nil {
			return err
		}
		log, err := logger(s.stderr, c.Server.LogLevel, c.Server.LogFormat)
		if err != nil {
			return err
		}
		o := serve.Options{Log: log, Ready: s.ready}
		if s.mutant != "" {
			m, err := mutants.Lookup(s.mutant)
			if err != nil {
				return err
			}
			o.Mutate = m.Apply
		}
		return serve.Run(ctx, c, o)
	}
}
