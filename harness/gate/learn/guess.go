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
	fromTable  = regexp.MustCompile(`\b(?:from|join)(?: lateral| only)? ([\w."]+)`)
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

// selected are the tables that a statement reads, and the functions that it reads
// like tables.
func selected(words string) (tables []string) {
	for _, m := range fromTable.FindAllStringSubmatch(words, -1) {
		tables = append(tables, m[1])
	}
	return tables
}

// of reports whether a statement reads one of these tables.
func of(words string, tables map[string]bool) bool {
	return slices.ContainsFunc(selected(words), func(t string) bool { return tables[t] })
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
			for _, table := range selected(s.words) {
				ordered[table] = true
			}
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
		case publishes && strings.Contains(s.words, "order by") && of(s.words, logs):
			u.name = "publish.history"
		case publishes && of(s.words, logs) && locked:
			u.name = "publish.recheck"
		case publishes && of(s.words, logs):
			u.name = "publish.lookup"
		case of(s.words, logs):
			u.name = reads(s.words)
		}
		s.kind.uses = append(s.kind.uses, u)
	}
}

// reads names a statement that reads what is stored, outside of a transaction
// that stores something.
func reads(words string) string {
	switch ordered := strings.Contains(words, "order by"); {
	case len(selected(words)) == 0:
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

// adopt names what a transaction did that was given up before it stored anything:
// what a kind of statement is in all transactions that did, it is there too.
func (k *kind) adopt() {
	name := ""
	for _, u := range k.uses {
		if u.position == 0 || u.name == "" {
			continue
		}
		if name != "" && name != u.name {
			return
		}
		name = u.name
	}
	for i, u := range k.uses {
		if u.position > 0 && u.name == "" {
			k.uses[i].name = name
		}
	}
}
