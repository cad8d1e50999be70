package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// atMostOne accepts no argument or one, which is what.
func atMostOne(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) > 1 {
			return fmt.Errorf("%s takes %s, not %d arguments: %q is one too many", c.CommandPath(), what, len(args), shown(args[1]))
		}
		return nil
	}
}

// exactlyOne accepts one argument, which is what.
func exactlyOne(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes %s, not %d arguments: see %s --help", c.CommandPath(), what, len(args), c.CommandPath())
		}
		return nil
	}
}

// none accepts no argument.
func none(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no argument: %q is one too many", c.CommandPath(), shown(args[0]))
	}
	return nil
}
