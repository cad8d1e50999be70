package check

import (
	"fmt"
	"slices"
	"sort"
)

// judgeCircles judges that pages of several logs can be put in one order. A page
// that shows an entry comes after it became visible, a page that lacks it comes
// before; of two pages that are open at once and disagree on which of two
// entries came first, none is wrong by itself.
//
// The order is that of a graph with an edge from what comes first: its vertices
// are the pages, and the ranks that they show up to or lack from. The parts of
// an append that nothing can have hidden became visible at once and are one
// vertex. What cannot be sorted is a circle.
func (c *checker) judgeCircles() {
	if len(c.report.Findings) > 0 {
		return
	}
	g := c.orderGraph()
	if g == nil {
		return
	}
	left := g.sort()
	if left == 0 {
		return
	}
	for p := 0; p < len(g.pages) && c.counts[Snapshot] < MostFindings; p++ {
		if circle := g.circle(uint32(p)); circle != nil {
			c.circle(g, circle)
			return
		}
	}
}

// orderGraph is the graph of judgeCircles: the vertices are pages first, then
// ranks.
type orderGraph struct {
	pages []uint32 // the pages, by vertex
	ranks []uint32 // the ranks in use, ascending; vertex len(pages)+i, unless merged
	same  []uint32 // by rank in use: the vertex it is merged into
	from  []uint32 // edges of vertex v are to[from[v]:from[v+1]]
	to    []uint32
	in    []uint32 // edges into each vertex that are not yet sorted away
}

// eachSpan visits the spans of the pages that take part.
func (c *checker) eachSpan(visit func(page int, s uint32)) {
	p := &c.f.pages
	for i := range p.len() {
		from, to := p.spans(i)
		if to-from < 2 || p.flags[i]&flagMore != 0 || slices.Contains(c.next[from:to], unsound) {
			continue
		}
		for s := from; s < to; s++ {
			visit(i, s)
		}
	}
}

func (c *checker) orderGraph() *orderGraph {
	g := &orderGraph{}
	pages, last, spans := 0, -1, 0
	c.eachSpan(func(page int, s uint32) {
		spans++
		if page != last {
			pages, last = pages+1, page
		}
	})
	if pages < 2 {
		return nil
	}
	whole, parts := c.wholeAppends()
	g.pages, g.ranks = make([]uint32, 0, pages), make([]uint32, 0, 2*spans+len(parts))
	c.eachSpan(func(page int, s uint32) {
		if n := len(g.pages); n == 0 || g.pages[n-1] != uint32(page) {
			g.pages = append(g.pages, uint32(page))
		}
		if next := c.next[s]; next < c.start[c.f.pages.spanLog[s]+1] {
			g.ranks = append(g.ranks, next)
		}
		if c.spanShows(s) {
			g.ranks = append(g.ranks, c.next[s]-1)
		}
	})
	g.ranks = append(g.ranks, parts...)
	slices.Sort(g.ranks)
	g.ranks = slices.Compact(g.ranks)
	g.same = make([]uint32, len(g.ranks))
	for i := range g.same {
		g.same[i] = uint32(len(g.pages) + i)
	}
	for i, from := range whole {
		to := uint32(len(parts))
		if i+1 < len(whole) {
			to = whole[i+1]
		}
		for _, r := range parts[from+1 : to] {
			g.same[g.index(r)] = g.same[g.index(parts[from])]
		}
	}
	g.link(c)
	return g
}

func (g *orderGraph) index(rank uint32) int {
	return sort.Search(len(g.ranks), func(i int) bool { return g.ranks[i] >= rank })
}

// link adds the edges, counted first so that they lie in one array.
func (g *orderGraph) link(c *checker) {
	vertices := len(g.pages) + len(g.ranks)
	g.from, g.in = make([]uint32, vertices+1), make([]uint32, vertices)
	each := func(edge func(a, b uint32)) {
		for i := 1; i < len(g.ranks); i++ {
			if c.logAt(g.ranks[i]) == c.logAt(g.ranks[i-1]) && g.same[i] != g.same[i-1] {
				edge(g.same[i-1], g.same[i])
			}
		}
		n, last := -1, -1
		c.eachSpan(func(page int, s uint32) {
			if page != last {
				n, last = n+1, page
			}
			if next := c.next[s]; next < c.start[c.f.pages.spanLog[s]+1] {
				edge(uint32(n), g.same[g.index(next)])
			}
			if c.spanShows(s) {
				edge(g.same[g.index(c.next[s]-1)], uint32(n))
			}
		})
	}
	each(func(a, b uint32) { g.from[a+1]++; g.in[b]++ })
	for v := range vertices {
		g.from[v+1] += g.from[v]
	}
	g.to = make([]uint32, g.from[vertices])
	fill := slices.Clone(g.from[:vertices])
	each(func(a, b uint32) { g.to[fill[a]] = b; fill[a]++ })
}

// sort removes what nothing comes before, again and again, and returns how many
// edges are left.
func (g *orderGraph) sort() int {
	var ready []uint32
	for v, n := range g.in {
		if n == 0 {
			ready = append(ready, uint32(v))
		}
	}
	left := len(g.to)
	for len(ready) > 0 {
		v := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, w := range g.to[g.from[v]:g.from[v+1]] {
			left--
			if g.in[w]--; g.in[w] == 0 {
				ready = append(ready, w)
			}
		}
	}
	return left
}

// circle returns the shortest circle through a vertex, nil when there is none.
func (g *orderGraph) circle(start uint32) []uint32 {
	if g.in[start] == 0 {
		return nil
	}
	before := map[uint32]uint32{}
	for queue := []uint32{start}; len(queue) > 0; queue = queue[1:] {
		v := queue[0]
		for _, w := range g.to[g.from[v]:g.from[v+1]] {
			if w == start {
				out := []uint32{v}
				for v != start {
					v = before[v]
					out = append(out, v)
				}
				return out
			}
			if _, seen := before[w]; !seen && g.in[w] > 0 {
				before[w] = v
				queue = append(queue, w)
			}
		}
	}
	return nil
}

// wholeAppends lists, for appends to several logs, the ranks of the parts that
// nothing can have hidden; each append's begin where whole says.
func (c *checker) wholeAppends() (whole, parts []uint32) {
	a, f := &c.f.appends, c.f
	peak := c.words(len(c.bounds)) // by rank: the latest stored below it
	for l := 1; l+1 < len(c.start); l++ {
		latest := uint32(0)
		for g := c.start[l]; g < c.start[l+1]; g++ {
			peak[g] = latest
			latest = max(latest, uint32(c.entries[c.bounds[g].entry].stored))
		}
	}
	for i := range a.len() {
		from, to := a.items(i)
		if to-from < 2 || a.outcome[i] == Refused || a.outcome[i] == Contended {
			continue
		}
		begin := len(parts)
		for k := from; k < to; k++ {
			e := a.entry[k]
			if c.entries[e].owner != uint32(i) || !c.located(e) {
				continue
			}
			r := c.rank[f.entryRow[e]]
			if Order(peak[r]) < c.entries[e].first && !c.mayHide(f.entryLog[e], interval{c.entries[e].first, c.entries[e].stored}) && !slices.Contains(parts[begin:], r) {
				parts = append(parts, r)
			}
		}
		if len(parts)-begin > 1 {
			whole = append(whole, uint32(begin))
		} else {
			parts = parts[:begin]
		}
	}
	return whole, parts
}

// circle reports pages that cannot be put in one order.
func (c *checker) circle(g *orderGraph, vertices []uint32) {
	var pages []op
	for _, v := range vertices {
		if int(v) < len(g.pages) {
			pages = append(pages, op{tablePage, int(g.pages[v])})
		}
	}
	slices.SortFunc(pages, func(a, b op) int { return a.index - b.index })
	last := pages[len(pages)-1]
	v := finding{rule: Snapshot, op: last, log: c.f.pages.spanLog[c.f.pages.spanFrom[last.index]], others: pages[:len(pages)-1]}
	for _, x := range vertices {
		if int(x) >= len(g.pages) {
			r := c.rowAt(g.ranks[int(x)-len(g.pages)])
			v.positions = append(v.positions, c.f.rowPos[r])
			v.others = append(v.others, c.claimant(r)...)
		}
	}
	slices.Sort(v.positions)
	v.positions = slices.Compact(v.positions)
	v.expected = fmt.Sprintf("one order of %d pages and of the positions %d that they show and lack", len(pages), v.positions)
	v.got = "each page before the next, in a circle"
	c.find(v)
}
