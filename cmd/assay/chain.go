package main

import "github.com/spf13/cobra"

// chainCommand serves the chain RPC of the first suite that has one; nil when
// none has.
func (p *program) chainCommand() *cobra.Command {
	for _, s := range p.suites {
		if s.serveChain == nil {
			continue
		}
		listen := "127.0.0.1:8545"
		c := &cobra.Command{
			Use:   "chain",
			Short: "Serve the simulated chain that contract wallets live on",
			Long: `Serve the simulated chain that contract wallets live on, until SIGINT or SIGTERM, for a backend that
somebody else starts. A subject of --spawn gets one by itself, through {chain} and {chain_id}.`,
			Args: none,
			RunE: func(c *cobra.Command, _ []string) error {
				return s.serveChain(c.Context(), listen, c.OutOrStdout())
			},
		}
		c.Flags().StringVar(&listen, "listen", listen, "listen at this `ADDRESS`; port 0 takes a free one")
		return c
	}
	return nil
}
