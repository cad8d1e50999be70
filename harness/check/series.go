package check

import (
	"cmp"
	"fmt"
	"slices"
)

// judgeSeries judges that positions over all logs of a series follow the order
// in which their appends were stored.
func (c *checker) judgeSeries() {
	f := c.f
	ranks := make(map[uint32][]uint32)
	for l := 1; l < len(f.logName); l++ {
		if s := f.logSeries[l]; s != 0 {
			for g := c.start[l]; g < c.start[l+1]; g++ {
				ranks[s] = append(ranks[s], g)
			}
		}
	}
	for _, s := range sortedKeys(ranks) {
		all := ranks[s]
		slices.SortFunc(all, func(a, b uint32) int { return cmp.Compare(c.position(a), c.position(b)) })
		earliest, by := Never, noRank // the rank above that was stored first
		for k := len(all) - 1; k >= 0; k-- {
			g := all[k]
			e := c.bounds[g].entry
			o := c.earliest(e)
			if c.entries[e].first > earliest {
				if !c.full(Series, o) {
					c.find(finding{rule: Series, op: o, log: c.logAt(g), positions: []uint64{c.position(g), c.position(by)}, others: c.storer(by),
						expected: fmt.Sprintf("a position above %d, which was stored before this append began", c.position(by)), got: fmt.Sprint(c.position(g))})
				}
			} else if len(all) > 1 {
				c.hold(o, Series)
			}
			if c.entries[e].stored < earliest {
				earliest, by = c.entries[e].stored, g
			}
		}
	}
}

// storer lists the operations that prove a rank stored.
func (c *checker) storer(g uint32) (out []op) {
	e := c.bounds[g].entry
	if o, ok := c.at(c.entries[e].stored); ok {
		out = append(out, o)
	}
	if o := c.earliest(e); !slices.Contains(out, o) {
		out = append(out, o)
	}
	return out
}

func sortedKeys(m map[uint32][]uint32) []uint32 {
	out := make([]uint32, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// judgeConditions judges appends that depend on the state of a log.
func (c *checker) judgeConditions() {
	c.judgeWinners()
	c.judgeRefusals()
}

// judgeWinners judges that of the appends that carry one token on one log at
// most one is stored.
func (c *checker) judgeWinners() {
	a := &c.f.appends
	var all []condition
	for _, x := range a.condition {
		if x.token != 0 {
			all = append(all, x)
		}
	}
	slices.SortStableFunc(all, func(x, y condition) int { return cmp.Or(cmp.Compare(x.log, y.log), cmp.Compare(x.token, y.token)) })
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].log == all[from].log && all[to].token == all[from].token {
			to++
		}
		c.judgeToken(all[from:to])
		from = to
	}
}

func (c *checker) judgeToken(rivals []condition) {
	a := &c.f.appends
	winner, row := -1, Row(0)
	var distinct []Entry
	for _, x := range rivals {
		from, to := a.items(int(x.append))
		for k := from; k < to; k++ {
			e := a.entry[k]
			if c.f.entryLog[e] != x.log {
				continue
			}
			if !slices.Contains(distinct, e) {
				distinct = append(distinct, e)
			}
			r := a.row[k]
			if r == 0 && c.entries[e].first != Never {
				r = c.f.entryRow[e] // a read has shown it
			}
			switch {
			case r == 0 || a.outcome[x.append] == Refused || a.outcome[x.append] == Contended:
			case winner < 0:
				winner, row = int(x.append), r
			case c.f.rowEntry[r] != c.f.rowEntry[row]:
				o := op{tableAppend, int(x.append)}
				if !c.full(OneWinner, o) {
					c.find(finding{rule: OneWinner, op: o, log: x.log, positions: []uint64{c.f.rowPos[row], c.f.rowPos[r]}, others: append(c.claimant(r), append(c.claimant(row), op{tableAppend, winner})...),
						expected: fmt.Sprintf("one of two appends that exclude each other, stored as position %d of %s", c.f.rowPos[row], c.f.logName[x.log]), got: fmt.Sprintf("the other too, as position %d", c.f.rowPos[r])})
				}
			}
		}
	}
	if winner >= 0 && len(distinct) > 1 {
		for _, x := range rivals {
			if a.outcome[x.append] != Unknown {
				c.hold(op{tableAppend, int(x.append)}, OneWinner)
			}
		}
	}
}
