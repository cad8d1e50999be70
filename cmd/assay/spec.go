package main

import (
	"errors"

	"assay/spec"

	"github.com/spf13/cobra"
)

func (p *program) specCommand() *cobra.Command {
	var asJSON, proto, limits, glossary bool
	name := p.suites[0].Name()
	c := &cobra.Command{
		Use:   "spec [ID | section]",
		Short: "Print what a specification requires, in our own words",
		Example: `  assay spec                 every requirement, one a line
  assay spec API-033         one requirement in full
  assay spec 5               the requirements of a section
  assay spec --proto         the wire definition`,
		Args: atMostOne("a requirement id or a section"),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := p.find(name)
			if err != nil {
				return err
			}
			address := ""
			if len(args) == 1 {
				address = args[0]
				if id, err := spec.ParseID(address); err == nil && !c.Flags().Changed("suite") {
					if s, err = p.owner(string(id)); err != nil {
						return err
					}
				}
			}
			if count(asJSON, proto, limits, glossary) > 1 || address != "" && (proto || limits || glossary) {
				return errors.New("--proto, --limits and --glossary each stand alone, and --json goes with a selection: choose one")
			}
			cat := s.Catalogue()
			switch {
			case proto:
				tree, err := s.sources()
				if err != nil {
					return err
				}
				return spec.WriteSources(p.stdout, tree)
			case limits:
				return spec.WriteLimits(p.stdout, cat)
			case glossary:
				return spec.WriteGlossary(p.stdout, cat)
			}
			selection, err := cat.Select(address)
			switch {
			case err != nil:
				return err
			case asJSON:
				return spec.WriteJSON(p.stdout, cat, selection)
			case address == "":
				return spec.WriteIndex(p.stdout, cat, selection)
			default:
				return spec.WriteText(p.stdout, cat, selection)
			}
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "write JSON (assay.spec/v1)")
	c.Flags().BoolVar(&proto, "proto", false, "write the wire definition")
	c.Flags().BoolVar(&limits, "limits", false, "write every limit")
	c.Flags().BoolVar(&glossary, "glossary", false, "write the vocabulary")
	c.Flags().StringVar(&name, "suite", name, "the specification of this `SUITE`")
	return c
}

func count(flags ...bool) int {
	n := 0
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}
