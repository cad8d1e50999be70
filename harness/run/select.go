package run

import (
	"fmt"
	"sort"
	"strings"

	"assay/harness/subject"
	"assay/spec"
)

// Skip is a selected scenario that this run cannot drive, with the reason.
type Skip struct {
	Scenario string
	Reason   string
	Decides  []spec.ID
}

// choose picks the scenarios that addresses name and splits them by whether
// this run can drive them. No address means all. An address is a suite, a
// path prefix ("backend/publish"), a scenario's full name, or a requirement id.
func choose(s Suite, all []Scenario, addresses []string, o Options) (chosen []Scenario, skipped []Skip, err error) {
	matched := make([]bool, len(addresses))
	for _, sc := range all {
		take := len(addresses) == 0
		for i, a := range addresses {
			if matches(s, sc, a) {
				matched[i], take = true, true
			}
		}
		if !take {
			continue
		}
		if why := cannot(sc, o); why != "" {
			skipped = append(skipped, Skip{sc.Name, why, sc.Decides})
			continue
		}
		chosen = append(chosen, sc)
	}
	for i, a := range addresses {
		if !matched[i] {
			return nil, nil, unmatched(s, all, a)
		}
	}
	return chosen, skipped, nil
}

func matches(s Suite, sc Scenario, address string) bool {
	if id, err := spec.ParseID(address); err == nil {
		for _, d := range sc.Decides {
			if d == id {
				return true
			}
		}
		return false
	}
	return address == s.Name() || address == sc.Name || strings.HasPrefix(sc.Name, strings.TrimSuffix(address, "/")+"/")
}

// cannot says why a run cannot drive a scenario, "" when it can.
func cannot(sc Scenario, o Options) string {
	if have := o.Source.Access(); !have.Contains(sc.Needs) {
		return "needs access " + sc.Needs.String() + "; this run has " + have.String()
	}
	if o.Profile < sc.From {
		return "belongs to profile " + sc.From.String()
	}
	if o.Source.Shared() {
		if sc.Stress && !o.Stress {
			return "is a storm or a large limit: run it against a shared subject with --stress"
		}
		if sc.Exclusive {
			return "needs a subject of its own: use --spawn"
		}
	}
	if sc.Configuration.Key() != (subject.Configuration{}).Key() {
		if err := o.Source.Supports(sc.Configuration); err != nil {
			return err.Error()
		}
	}
	return ""
}

// unmatched explains an address that names nothing.
func unmatched(s Suite, all []Scenario, address string) error {
	if id, err := spec.ParseID(address); err == nil {
		if _, ok := s.Catalogue().Lookup(id); !ok {
			return fmt.Errorf("requirement %s is not in the catalogue of %s: list them with assay spec", id, s.Name())
		}
		return fmt.Errorf("no scenario decides %s: see what it needs with assay spec %s", id, id)
	}
	groups := make(map[string]bool)
	for _, sc := range all {
		parts := strings.Split(sc.Name, "/")
		groups[strings.Join(parts[:len(parts)-1], "/")] = true
	}
	var names []string
	for g := range groups {
		names = append(names, g)
	}
	sort.Strings(names)
	return fmt.Errorf("address %q names no scenario: use %s, one of %s, a scenario's full name, or a requirement id", address, s.Name(), strings.Join(names, ", "))
}
