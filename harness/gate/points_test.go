package gate_test

import (
	"strings"
	"testing"

	"assay/harness/gate"
	"assay/harness/postgres/pgtest"
)

func TestPointsFilesAreRefusedByLine(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"nothing", "", "f.yaml:1: an empty points file"},
		{"no mapping", "- a", "f.yaml:1: want keys and values"},
		{"another version", "version: assay.points/v9\npoints: [{name: a, match: b}]", "f.yaml:1: version \"assay.points/v9\""},
		{"no points", "version: assay.points/v1", "f.yaml:1: no point"},
		{"points that are no list", "version: assay.points/v1\npoints: 3", "f.yaml:2: points: want a list"},
		{"an unknown key", "version: assay.points/v1\npoints:\n- {name: a, match: b}\n- {name: a, mach: b}", "f.yaml:4: key \"mach\" is unknown"},
		{"a key twice", "version: assay.points/v1\npoints:\n- name: a\n  name: b\n  match: c", "f.yaml:4: key name is there twice"},
		{"no name", "version: assay.points/v1\npoints:\n- match: b", "f.yaml:3: a point without a name"},
		{"a bad name", "version: assay.points/v1\npoints:\n- {name: A b, match: b}", "f.yaml:3: name \"A b\""},
		{"nothing to match", "version: assay.points/v1\npoints:\n- name: b", "f.yaml:3: point b: want match, position or both"},
		{"a bad pattern", "version: assay.points/v1\npoints:\n- {name: a, match: \"(\"}", "f.yaml:3: match \"(\""},
		{"a count of zero", "version: assay.points/v1\npoints:\n- {name: a, match: b, nth: 0}", "f.yaml:3: nth \"0\""},
		{"a word for a count", "version: assay.points/v1\npoints:\n- {name: a, position: third}", "f.yaml:3: position \"third\""},
		{"no boolean", "version: assay.points/v1\npoints:\n- {name: a, match: b, in_transaction: perhaps}", "f.yaml:3: in_transaction \"perhaps\""},
		{"what cannot be", "version: assay.points/v1\npoints:\n- {name: a, match: b, in_transaction: false, nth: 2}", "f.yaml:3: point a: position and nth"},
		{"two documents", "version: assay.points/v1\npoints: [{name: a, match: b}]\n---\nx: y", "more than one document"},
		{"no yaml", "version: [", "f.yaml: yaml: line"},
		{"too much", strings.Repeat("#", 1<<20+1), "f.yaml: a points file of 1048577 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := gate.ParsePoints("f.yaml", []byte(c.file)); err == nil || !strings.HasPrefix(err.Error(), c.want) && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestPointsNameStatements(t *testing.T) {
	db := pgtest.ForTest(t)
	points, err := gate.ParsePoints("f.yaml", []byte(`
version: assay.points/v1
points:
  - {name: begin, match: "^begin"}
  - {name: second-read, match: "^select 1", in_transaction: true, nth: 2}
  - {name: third, position: 3}
  - {name: outside, match: "^select", in_transaction: false}
  - {name: insert, match: "^insert into things values"}
`))
	if err != nil {
		t.Fatal(err)
	}
	g := open(t, db.URL(), func(c *gate.Config) { c.Points = points })
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			c := connect(t, through(t, g, db.URL()), "default_query_exec_mode", mode)
			exec(t, c, "CREATE TEMP TABLE things (id int)")
			r := g.Record(100)
			defer r.Stop()
			for _, s := range []string{
				"Begin", "SELECT 1", "SELECT  2", "select /* a comment */ 1 -- another", "INSERT\n INTO Things\tVALUES (1)", "SELECT 1 /*point='tagged'*/", "COMMIT", "SELECT 1",
			} {
				exec(t, c, s)
			}
			trace, _ := r.Trace()
			for i, want := range []string{"begin", "", "third", "second-read", "insert", "tagged", "", "outside"} {
				if trace[i].Point != want {
					t.Errorf("%q is %q, want %q", trace[i].Text, trace[i].Point, want)
				}
			}
		})
	}
}
