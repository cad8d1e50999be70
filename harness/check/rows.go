package check

import (
	"fmt"
	"slices"
)

const (
	noOwner    uint32 = 1<<32 - 1
	manyOwners uint32 = 1<<32 - 2
)

// surveyAppends finds when each entry can have been stored, and by whom.
func (c *checker) surveyAppends() {
	n := len(c.f.entryLog)
	c.entries = make([]entryState, n)
	c.copied = make([]uint64, n/64+1)
	for e := range c.entries {
		c.entries[e] = entryState{Never, Never, noOwner}
	}
	a := &c.f.appends
	for i := range a.len() {
		if a.outcome[i] == Refused || a.outcome[i] == Contended {
			continue
		}
		from, to := a.items(i)
		for k := from; k < to; k++ {
			e := a.entry[k]
			c.entries[e].first = min(c.entries[e].first, a.invoked[i])
			if a.outcome[i] == Stored {
				if _, many := c.f.entryAll[e]; many && a.returned[i] < c.entries[e].stored {
					c.right[e] = a.row[k]
				}
				c.entries[e].stored = min(c.entries[e].stored, a.returned[i])
			}
			switch c.entries[e].owner {
			case noOwner, uint32(i):
				c.entries[e].owner = uint32(i)
			default:
				c.entries[e].owner = manyOwners
				c.copied[e/64] |= 1 << (e % 64)
			}
		}
	}
}

// judgeRows marks the rows that contradict another: an entry with two positions
// or two digests, a position with two entries, an entry that nobody appended.
func (c *checker) judgeRows() {
	f := c.f
	c.flaw = make([]flaw, len(f.rowEntry))
	for r := 1; r < len(f.rowEntry); r++ {
		if c.entries[f.rowEntry[r]].first == Never {
			c.flaw[r] |= flawForeign
		}
	}
	for e, rows := range f.entryAll {
		right := c.rightRow(e)
		moved := false
		for _, r := range rows {
			if f.rowPos[r] != f.rowPos[right] {
				c.flaw[r] |= flawMoved
				moved = true
			} else if r != right {
				c.flaw[r] |= flawMeta
			}
		}
		if moved {
			for _, r := range rows {
				c.flaw[r] |= flawDisputed
			}
		}
	}
}

// rightRow returns the row of an entry that the others are held against: that
// of the first append to return, else the first that was read.
func (c *checker) rightRow(e Entry) Row {
	if r := c.right[e]; r != 0 && c.f.rowEntry[r] == e {
		return r
	}
	return c.f.entryRow[e]
}

// appendOf returns the append that an item belongs to.
func (a *appendColumns) appendOf(item int) int {
	i, exact := slices.BinarySearch(a.from, uint32(item))
	if !exact {
		return i - 1
	}
	for i+1 < len(a.from) && a.from[i+1] == uint32(item) {
		i++ // appends of nothing begin where the next one does
	}
	return i
}

// rankRows sorts the sound rows of each log by position.
func (c *checker) rankRows() {
	f := c.f
	logs := len(f.logName)
	c.start = make([]uint32, logs+1)
	for r := 1; r < len(f.rowEntry); r++ {
		if c.flaw[r]&unranked == 0 {
			c.start[f.entryLog[f.rowEntry[r]]+1]++
		}
	}
	for l := range logs {
		c.start[l+1] += c.start[l]
	}
	rows := c.words(int(c.start[logs]))
	fill := slices.Clone(c.start[:logs])
	for r := 1; r < len(f.rowEntry); r++ {
		if c.flaw[r]&unranked == 0 {
			l := f.entryLog[f.rowEntry[r]]
			rows[fill[l]] = uint32(r)
			fill[l]++
		}
	}
	for l := range logs {
		f.sortByPosition(rows[c.start[l]:c.start[l+1]])
	}
	c.mergeRanks(rows)
}

// sortByPosition sorts rows by position. Rows come nearly sorted, because a
// history meets positions in the order of time, so it tries to move each row the
// few places it is off before it gives up and sorts.
func (f *Facts) sortByPosition(rows []uint32) {
	budget := 8*len(rows) + 64
	for i := 1; i < len(rows); i++ {
		r, p := rows[i], f.rowPos[rows[i]]
		k := i
		for k > 0 && f.rowPos[rows[k-1]] > p {
			rows[k] = rows[k-1]
			k--
		}
		rows[k] = r
		if budget -= i - k; budget < 0 {
			slices.SortStableFunc(rows, func(a, b uint32) int {
				switch {
				case f.rowPos[a] < f.rowPos[b]:
					return -1
				case f.rowPos[a] > f.rowPos[b]:
					return 1
				default:
					return int(a) - int(b)
				}
			})
			return
		}
	}
}

// mergeRanks gives every sound row its rank. Rows of one entry that differ in
// metadata share one; a position that two entries claim is in dispute and has
// none.
func (c *checker) mergeRanks(rows []uint32) {
	f := c.f
	c.rank = make([]uint32, len(f.rowEntry))
	c.bounds = make([]bounds, 0, len(rows))
	for r := range c.rank {
		c.rank[r] = noRank
	}
	out := uint32(0)
	for l := 0; l+1 < len(c.start); l++ {
		from, to := c.start[l], c.start[l+1]
		c.start[l] = out
		for from < to {
			end := from + 1
			for end < to && f.rowPos[rows[end]] == f.rowPos[rows[from]] {
				end++
			}
			group := rows[from:end]
			right := slices.Min(group)
			disputed := slices.ContainsFunc(group, func(r uint32) bool { return f.rowEntry[r] != f.rowEntry[right] })
			for _, r := range group {
				switch {
				case !disputed:
					c.rank[r] = out
				case f.rowEntry[r] != f.rowEntry[right]:
					c.flaw[r] |= flawTaken
				default:
					c.flaw[r] |= flawDisputed
				}
			}
			if !disputed {
				c.bounds = append(c.bounds, bounds{pos: f.rowPos[right], entry: f.rowEntry[right], shown: Never, since: c.entries[f.rowEntry[right]].first})
				out++
			}
			from = end
		}
	}
	c.start[len(c.start)-1] = out
}

// judgeAcrossLogs marks rows whose position names an entry of an earlier row's
// log as well.
func (c *checker) judgeAcrossLogs() {
	f := c.f
	if !f.OneSequence || len(f.rowPos) < 3 {
		return
	}
	low, high := slices.Min(f.rowPos[1:]), slices.Max(f.rowPos[1:])
	clash := func(a, b uint32) {
		if f.logOf(Row(a)) != f.logOf(Row(b)) {
			c.flaw[max(a, b)] |= flawElsewhere
		}
	}
	if spread := high - low; spread < uint64(4*len(f.rowPos)) {
		// One sequence hands out dense positions: a table finds the clashes.
		holder := c.words(int(spread) + 1)
		for r := 1; r < len(f.rowPos); r++ {
			at := f.rowPos[r] - low
			if holder[at] == 0 {
				holder[at] = uint32(r)
			} else {
				clash(holder[at], uint32(r))
			}
		}
		return
	}
	all := c.words(len(f.rowPos) - 1)
	for i := range all {
		all[i] = uint32(i + 1)
	}
	f.sortByPosition(all)
	for i, from := 1, 0; i < len(all); i++ {
		if f.rowPos[all[i]] != f.rowPos[all[from]] {
			from = i
			continue
		}
		clash(all[from], all[i])
	}
}

func (f *Facts) logOf(r Row) Log { return f.entryLog[f.rowEntry[r]] }

// judgeAnswers judges what appends were answered, row by row.
func (c *checker) judgeAnswers() {
	f := c.f
	a := &f.appends
	for i := range a.len() {
		if a.outcome[i] != Stored {
			continue
		}
		o := op{tableAppend, i}
		from, to := a.items(i)
		var held uint32 = 1 << OnePosition
		if f.OneSequence {
			held |= 1 << AcrossLogs
		}
		for k := from; k < to; k++ {
			r, e := a.row[k], a.entry[k]
			if c.entries[e].owner == manyOwners {
				held |= 1<<SameMetadata | 1<<StoredOnce
			}
			if to-from > 1 {
				equal, same := c.collapse(o, from, k)
				if equal {
					held |= 1 << Collapsed
				}
				if !same {
					continue
				}
			}
			if f.rowEntry[r] == e && c.flaw[r]&claimed != 0 {
				c.claim(o, r, true)
			}
		}
		c.report.appends[i] |= held
	}
}

// collapse judges an item of an append against an equal one before it.
func (c *checker) collapse(o op, from, item uint32) (equal, same bool) {
	const near = 64 // equal entries further apart are judged as any two claims are
	a := &c.f.appends
	for k := item; k > from && item-k < near; {
		k--
		if a.entry[k] != a.entry[item] {
			continue
		}
		if a.row[k] != a.row[item] && !c.full(Collapsed, o) {
			c.find(finding{rule: Collapsed, op: o, log: c.f.entryLog[a.entry[item]], positions: []uint64{c.f.rowPos[a.row[k]], c.f.rowPos[a.row[item]]},
				expected: fmt.Sprintf("one row for equal entries %d and %d of one append", k-from, item-from),
				got:      fmt.Sprintf("%s and %s", c.describe(a.row[k]), c.describe(a.row[item]))})
		}
		return true, a.row[k] == a.row[item]
	}
	return false, true
}
