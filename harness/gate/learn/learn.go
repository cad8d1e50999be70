// Package learn writes a first points file from what a gate has watched: start
// with [File]. It guesses from the text of statements and from their place in
// their transaction which of them begin, lock, allocate, insert and read; a
// person reads the file before it is relied on. It looks at no value: what it
// writes holds no literal of any statement.
package learn

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/harness/gate"
)

// names are the points in the order of a file.
var names = []string{
	"begin", "publish.lookup", "publish.history", "publish.lock", "publish.recheck", "publish.allocate", "publish.insert",
	"commit", "query.page", "newest.read", "listen",
}

// kind is statements of one shape.
type kind struct {
	shape string
	// text is one of them without literals, as a pattern sees it.
	text  string
	first int
	uses  []use
}

// use is one statement.
type use struct {
	name     string
	position int // in its transaction, 0 outside of one
	nth      int // of its kind in its transaction, 0 outside of one
}

// File is a points file for what was watched; missed statements came after the
// recording was full.
func File(entries []gate.Entry, missed int) string {
	kinds := sorted(entries)
	var named, rest strings.Builder
	for _, name := range names {
		for _, k := range kinds {
			if k.has(name) {
				fmt.Fprintf(&named, "  # %s\n", k.describe(name))
				for _, p := range k.points(name, kinds) {
					fmt.Fprintf(&named, "  - {name: %s, %s}\n", name, p)
				}
			}
		}
	}
	for _, k := range kinds {
		if k.has("") {
			fmt.Fprintf(&rest, "# - %s\n", k.describe(""))
		}
	}
	out := "# Learned by watching. Read it before you rely on it: names are guessed from the text.\n"
	if missed > 0 {
		out += fmt.Sprintf("# %d statements came after the recording was full, and are not in it.\n", missed)
	}
	out += "version: " + gate.PointsVersion + "\n"
	if named.Len() == 0 {
		out += "# No statement was recognised: write the points by hand.\npoints: []\n"
	} else {
		out += "points:\n" + named.String()
	}
	if rest.Len() > 0 {
		out += "# Not recognised:\n" + rest.String()
	}
	return out
}

// sorted are the kinds in the order in which they were first seen, each use with
// its name.
func sorted(entries []gate.Entry) []*kind {
	kinds := make(map[string]*kind)
	type key struct{ session, transaction uint64 }
	transactions := make(map[key][]statement)
	var order []key
	for i, e := range entries {
		if e.Text == "" {
			continue // a portal that was bound before anybody looked
		}
		shape := gate.Shape(e.Text)
		id := lists.ReplaceAllString(parameters.ReplaceAllString(shape, "?"), "(?)")
		k := kinds[id]
		if k == nil {
			k = &kind{shape: id, text: shape, first: i}
			kinds[id] = k
		}
		at := key{e.ID, e.Transaction}
		if e.Position == 0 {
			at = key{0, uint64(i)} // by itself
		}
		if transactions[at] == nil {
			order = append(order, at)
		}
		transactions[at] = append(transactions[at], statement{kind: k, words: strings.ToLower(shape), position: e.Position})
	}
	var all []statement
	for _, at := range order {
		all = append(all, transactions[at]...)
	}
	logs := logsOf(all)
	for _, at := range order {
		name(transactions[at], logs)
	}
	for _, k := range kinds {
		k.adopt()
	}
	return slices.SortedFunc(maps.Values(kinds), func(a, b *kind) int { return cmp.Compare(a.first, b.first) })
}

var (
	parameters = regexp.MustCompile(`\$\d+`)
	lists      = regexp.MustCompile(`\(\s*\?(?:\s*,\s*\?)*\s*\)(?:\s*,\s*\(\s*\?(?:\s*,\s*\?)*\s*\))*`)
)

func (k *kind) has(name string) bool {
	return slices.ContainsFunc(k.uses, func(u use) bool { return u.name == name })
}

// describe says how often statements of a kind had a name, and where.
func (k *kind) describe(name string) string {
	count, outside := 0, 0
	var positions []int
	for _, u := range k.uses {
		if u.name != name {
			continue
		}
		count++
		if u.position == 0 {
			outside++
		} else if !slices.Contains(positions, u.position) {
			positions = append(positions, u.position)
		}
	}
	slices.Sort(positions)
	where := "outside of transactions"
	if len(positions) > 0 {
		var at []string
		for _, p := range positions[:min(len(positions), 5)] {
			at = append(at, strconv.Itoa(p))
		}
		where = "in a transaction at " + strings.Join(at, ", ")
		if len(positions) > len(at) {
			where += " and more"
		}
		if outside > 0 {
			where += fmt.Sprintf(", %d of them outside", outside)
		}
	}
	times := "times"
	if count == 1 {
		times = "time"
	}
	return fmt.Sprintf("%d %s, %s: %s", count, times, where, printable(k.shape))
}

// printable is a shape as a comment may hold it: on one line, and bounded.
func printable(s string) string {
	const most = 240
	s = strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + " …"
	}
	return s
}

// points are the entries, without their name, that match the uses of a kind that
// have a name and no others.
func (k *kind) points(name string, kinds []*kind) []string {
	match := "match: " + strconv.Quote(k.pattern(name, kinds))
	fits := func(allowed func(use) bool) bool {
		return !slices.ContainsFunc(k.uses, func(u use) bool { return allowed(u) != (u.name == name) })
	}
	if fits(func(use) bool { return true }) {
		return []string{match}
	}
	if fits(func(u use) bool { return u.position > 0 }) {
		return []string{match + ", in_transaction: true"}
	}
	if fits(func(u use) bool { return u.position == 0 }) {
		return []string{match + ", in_transaction: false"}
	}
	// Counting needs a pattern of this kind alone.
	whole := patterns(k.text)
	match = "match: " + strconv.Quote(whole[len(whole)-1])
	var out []string
	seen := make(map[int]bool)
	for _, u := range k.uses {
		switch {
		case u.name != name || seen[u.nth]:
			continue
		case u.nth == 0:
			out = append(out, match+", in_transaction: false")
		default:
			out = append(out, fmt.Sprintf("%s, nth: %d", match, u.nth))
		}
		seen[u.nth] = true
	}
	return out
}

// pattern matches a kind's statements, and none of a kind that never has the
// name: the shortest of a few that does.
func (k *kind) pattern(name string, kinds []*kind) string {
	candidates := patterns(k.text)
	for _, p := range candidates {
		match := regexp.MustCompile("(?is)" + p)
		if !slices.ContainsFunc(kinds, func(o *kind) bool { return o != k && !o.only(name) && match.MatchString(o.text) }) {
			return p
		}
	}
	return candidates[len(candidates)-1]
}

// only reports whether every use of a kind has the name.
func (k *kind) only(name string) bool {
	return !slices.ContainsFunc(k.uses, func(u use) bool { return u.name != name })
}

// patterns begin with the first words and end with the whole statement, where
// whatever stands for a value may be anything.
func patterns(text string) []string {
	text = strings.ToLower(text)
	value := regexp.MustCompile(`\$\d+|\?`)
	quote := func(s string) string {
		parts := value.Split(s, -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		return strings.Join(parts, ".*")
	}
	var out []string
	if at := strings.IndexAny(text, "("); at > 0 {
		out = append(out, "^"+quote(strings.TrimRight(text[:at], " ")))
	}
	if at := value.FindStringIndex(text); at != nil {
		out = append(out, "^"+quote(text[:at[0]]))
	}
	if loc := regexp.MustCompile(`\bfrom [\w."]+`).FindStringIndex(text); loc != nil {
		end := `\b`
		if text[loc[1]-1] == '"' {
			end = ""
		}
		out = append(out, "^"+quote(text[:loc[1]])+end)
	}
	slices.SortStableFunc(out, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	out = slices.DeleteFunc(out, func(p string) bool { return len(p) < len("^select")+2 })
	whole := quote(lists.ReplaceAllString(value.ReplaceAllString(text, "?"), "(?)"))
	if words := strings.Fields(text); len(words) == 1 || words[0] == "begin" || words[0] == "commit" {
		return []string{"^" + regexp.QuoteMeta(words[0]) + `\b`}
	}
	return append(out, "^"+whole+`\s*$`)
}
