package check

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// candidate is a store of an entry that may be what another append lost to.
type candidate struct {
	interval
	entry Entry
}

// rivals has, by log, the entries that may have been stored there, by the start
// of their first append; to is the latest end of all up to each.
type rivals map[Log][]candidate

// judgeRefusals judges appends that were turned down: one that lost a race had a
// rival, and one that only repeats what is stored is no loser at all.
func (c *checker) judgeRefusals() {
	a := &c.f.appends
	conditions := make(map[uint32][]Log)
	for _, x := range a.condition {
		if a.outcome[x.append] == Contended {
			conditions[x.append] = append(conditions[x.append], x.log)
		}
	}
	near := make(rivals)
	var losers, copies []int
	for i := range a.len() {
		if a.outcome[i] == Contended {
			losers = append(losers, i)
			for _, l := range c.contested(i, conditions) {
				near[l] = nil
			}
		}
		if (a.outcome[i] == Contended || a.outcome[i] == Refused) && c.repeats(i) {
			copies = append(copies, i)
			from, to := a.items(i)
			for k := from; k < to; k++ {
				near[c.f.entryLog[a.entry[k]]] = nil
			}
		}
	}
	if len(near) == 0 {
		return
	}
	c.gather(near)
	for _, i := range losers {
		c.judgeLoser(op{tableAppend, i}, c.contested(i, conditions), near)
	}
	for _, i := range copies {
		c.judgeCopy(op{tableAppend, i}, near)
	}
}

// contested lists the logs on which an append can lose: those it has conditions
// on, else all of its own.
func (c *checker) contested(i int, conditions map[uint32][]Log) []Log {
	if logs := conditions[uint32(i)]; logs != nil {
		return logs
	}
	var logs []Log
	from, to := c.f.appends.items(i)
	for k := from; k < to; k++ {
		logs = append(logs, c.f.entryLog[c.f.appends.entry[k]])
	}
	return logs
}

func (c *checker) gather(near rivals) {
	for e := 1; e < len(c.f.entryLog); e++ {
		l := c.f.entryLog[e]
		if _, ok := near[l]; ok && c.entries[e].first != Never {
			near[l] = append(near[l], candidate{interval{c.entries[e].first, c.entries[e].stored}, Entry(e)})
		}
	}
	for _, all := range near {
		slices.SortFunc(all, func(x, y candidate) int { return cmp.Compare(x.from, y.from) })
		for k := 1; k < len(all); k++ {
			all[k].to = max(all[k].to, all[k-1].to)
		}
	}
}

// rival reports whether another entry than the given may have been stored on a
// log within an interval.
func (c *checker) rival(l Log, near rivals, when interval, but []Entry) bool {
	all := near[l]
	n := sort.Search(len(all), func(k int) bool { return all[k].from >= when.to })
	for ; n > 0 && all[n-1].to > when.from; n-- {
		// The latest end of those before says whether to look on, the entry's own decides.
		if e := all[n-1].entry; c.entries[e].stored > when.from && !slices.Contains(but, e) {
			return true
		}
	}
	return false
}

// judgeLoser judges that an append which lost a race had a rival.
func (c *checker) judgeLoser(o op, logs []Log, near rivals) {
	a, i := &c.f.appends, o.index
	from, to := a.items(i)
	for _, l := range logs {
		if c.rival(l, near, interval{a.invoked[i], a.returned[i]}, a.entry[from:to]) {
			c.hold(o, Contention)
			return
		}
	}
	if len(logs) > 0 && !c.full(Contention, o) {
		c.find(finding{rule: Contention, op: o, log: logs[0], expected: "success: no other append to " + c.f.logName[logs[0]] + " can have been stored meanwhile", got: "a lost race"})
	}
}

// repeats reports whether a refused append holds nothing but entries that were
// certainly stored by another, before it returned.
func (c *checker) repeats(i int) bool {
	a := &c.f.appends
	if _, partial := slices.BinarySearch(a.partial, uint32(i)); partial {
		return false
	}
	from, to := a.items(i)
	for k := from; k < to; k++ {
		if e := a.entry[k]; c.entries[e].first == Never || c.entries[e].stored == Never || c.entries[e].first >= a.returned[i] {
			return false
		}
	}
	return from < to
}

// judgeCopy judges an append that repeats stored entries and was refused.
func (c *checker) judgeCopy(o op, near rivals) {
	a, i := &c.f.appends, o.index
	from, to := a.items(i)
	when := interval{a.invoked[i], a.returned[i]}
	before := true
	for k := from; k < to; k++ {
		e := a.entry[k]
		before = before && c.entries[e].stored < a.invoked[i]
		when = interval{min(when.from, c.entries[e].first), max(when.to, c.entries[e].stored)}
	}
	for k := from; k < to && !before; k++ {
		if c.rival(c.f.entryLog[a.entry[k]], near, when, a.entry[from:to]) {
			return // what the copy met when it was looked at may have been another state
		}
	}
	if c.full(Alike, o) {
		return
	}
	e := a.entry[from]
	v := finding{rule: Alike, op: o, log: c.f.entryLog[e], others: []op{c.earliest(e)}, got: "a refusal"}
	if x, ok := c.at(c.entries[e].stored); ok && !slices.Contains(v.others, x) {
		v.others = append(v.others, x)
	}
	if r := c.f.entryRow[e]; r != 0 {
		v.positions = []uint64{c.f.rowPos[r]}
	}
	v.expected = fmt.Sprintf("success, as for the equal append to %s that was stored", c.f.logName[v.log])
	c.find(v)
}
