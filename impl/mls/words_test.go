package mls

import (
	"fmt"
	"strings"
	"testing"
)

// TestEveryValueHasWordsOfItsOwn goes through each enumeration and one value past its end, which only shows its number.
func TestEveryValueHasWordsOfItsOwn(t *testing.T) {
	check := func(kind string, values []fmt.Stringer, past fmt.Stringer) {
		seen := map[string]bool{past.String(): true}
		for _, v := range values {
			if words := v.String(); seen[words] || words == "" || strings.ContainsAny(words, "0123456789") && kind != "problem" {
				t.Errorf("%s %d is called %q", kind, v, words)
			} else {
				seen[words] = true
			}
		}
	}
	check("content type", []fmt.Stringer{Application, Proposal, Commit}, ContentType(4))
	check("wire format", []fmt.Stringer{PublicMessage, PrivateMessage, welcomeMessage, groupInfoMessage, keyPackageMessage}, WireFormat(6))
	var problems, rules []fmt.Stringer
	for p := Truncated; p <= KeyLength; p++ {
		problems = append(problems, p)
	}
	for r := RuleLeafSource; r <= lastRule; r++ {
		rules = append(rules, r)
	}
	check("problem", problems, KeyLength+1)
	check("rule", rules, lastRule+1)
}
