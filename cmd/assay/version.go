package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func (p *program) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  none,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(p.stdout, tool())
			return err
		},
	}
}

// tool names this program and its version, as in "assay v0.3.0", from what the
// compiler recorded.
func tool() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		if revision := setting(info, "vcs.revision"); len(revision) >= 12 {
			return "assay devel-" + revision[:12]
		}
		return "assay devel"
	}
	return "assay " + info.Main.Version
}

func setting(info *debug.BuildInfo, key string) string {
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
