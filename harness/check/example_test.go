package check_test

import (
	"fmt"

	"assay/harness/check"
)

// A write returns, and a read that begins afterwards lacks it.
func ExampleRun() {
	f := check.New(check.Sizes{})
	log := f.Log("group g", 0)
	entry := f.Entry(log)
	f.Append(check.Append{Call: 1, Invoked: 1, Returned: 2, Outcome: check.Stored,
		Entries: []check.Entry{entry}, Rows: []check.Row{f.Row(entry, 41, 7)}})
	f.Page(check.Page{Call: 2, Invoked: 3, Returned: 4, Spans: []check.Span{{Log: log}}})

	for _, v := range check.Run(f).Findings {
		fmt.Printf("%s by call %d\n  expected %s\n  got      %s (events %d)\n", v.Rule, v.Call, v.Expected, v.Got, v.Proof)
	}
	// Output:
	// read-shows-what-had-returned by call 2
	//   expected position 41 of group g, which was stored before this read began
	//   got      a read without it (events [1 2 3 4])
}

// A read overlaps the write, and may see it or not.
func ExampleRun_overlap() {
	f := check.New(check.Sizes{})
	log := f.Log("group g", 0)
	entry := f.Entry(log)
	f.Append(check.Append{Call: 1, Invoked: 1, Returned: 3, Outcome: check.Stored,
		Entries: []check.Entry{entry}, Rows: []check.Row{f.Row(entry, 41, 7)}})
	f.Page(check.Page{Call: 2, Invoked: 2, Returned: 4, Spans: []check.Span{{Log: log}}})
	fmt.Println(len(check.Run(f).Findings), "findings")
	// Output: 0 findings
}
