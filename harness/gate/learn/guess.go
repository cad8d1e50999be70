package learn

import (
	"regexp"
	"slices"
	"strings"
)

// statement is one use of a kind, in lower case.
type statement struct {
	kind     *kind
	words    string
	position int
}

var (
	insertInto = regexp.MustCompile(`\b(?:insert into|copy) ([\w."]+)`)
	fromTable  = regexp.MustCompile(`\bfrom ([\w."]+)`)
	locks      = regexp.MustCompile(`\bpg_(?:try_)?advisory_(?:xact_)?lock|\bfor (?:no key )?update\b|\bfor (?:key )?share\b|^lock\b`)
	allocates  = regexp.MustCompile(`\bnextval\s*\(|^update\b.*\breturning\b`)
	newest     = regexp.MustCompile(`\border by\b.*\bdesc\b.*\blimit\b|\bmax\s*\(|\bdistinct on\b`)
)

// inserted is the table that a statement adds rows to, "" for none.
func inserted(words string) string {
	m := insertInto.FindStringSubmatch(words)
	if m == nil || strings.HasPrefix(words, "copy") && !strings.Contains(words, "from stdin") {
		return ""
	}
	return m[1]
}

// selected is the first table that a statement reads, "" for none.
func selected(words string) string {
	if m := fromTable.FindStringSubmatch(words); m != nil {
		return m[1]
	}
	return ""
}

// logsOf are the tables that keep what is published: rows are added to them, and
// read from them in an order. When none is so, those that rows are added to.
func logsOf(all []statement) map[string]bool {
	stored, ordered, both := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	for _, s := range all {
		if table := inserted(s.words); table != "" {
			stored[table] = true
		}
		if n := reads(s.words); n != "" && n != "publish.lookup" {
			ordered[selected(s.words)] = true
		}
	}
	for table := range stored {
		if ordered[table] {
			both[table] = true
		}
	}
	if len(both) > 0 {
		return both
	}
	return stored
}

// name names the statements of one transaction.
func name(tx []statement, logs map[string]bool) {
	publishes := slices.ContainsFunc(tx, func(s statement) bool { return logs[inserted(s.words)] })
	locked := false
	times := make(map[*kind]int)
	for _, s := range tx {
		u := use{position: s.position}
		if s.position > 0 {
			times[s.kind]++
			u.nth = times[s.kind]
		}
		table := inserted(s.words)
		first, _, _ := strings.Cut(s.words, " ")
		switch {
		case first == "begin" || strings.HasPrefix(s.words, "start transaction"):
			u.name = "begin"
		case first == "commit" || first == "end":
			u.name = "commit"
		case first == "listen":
			u.name = "listen"
		case table != "":
			if logs[table] {
				u.name = "publish.insert"
			}
		case first != "select" && first != "with" && first != "update" && first != "lock":
		case publishes && locks.MatchString(s.words):
			u.name, locked = "publish.lock", true
		case publishes && allocates.MatchString(s.words):
			u.name = "publish.allocate"
		case first == "update" || first == "lock" || locks.MatchString(s.words):
		case publishes && strings.Contains(s.words, "order by"):
			u.name = "publish.history"
		case publishes && selected(s.words) != "" && locked:
			u.name = "publish.recheck"
		case publishes && selected(s.words) != "":
			u.name = "publish.lookup"
		case logs[selected(s.words)]:
			u.name = reads(s.words)
		}
		s.kind.uses = append(s.kind.uses, u)
	}
}

// reads names a statement that reads what is stored, outside of a transaction
// that stores something.
func reads(words string) string {
	switch ordered := strings.Contains(words, "order by"); {
	case selected(words) == "":
		return ""
	case newest.MatchString(words):
		return "newest.read"
	case ordered && (strings.Contains(words, "limit") || strings.Contains(words, "fetch first")):
		return "query.page"
	case ordered:
		return "publish.history"
	default:
		return "publish.lookup"
	}
}
