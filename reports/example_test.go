package reports_test

import (
	"fmt"
	"os"
	"strings"

	"assay/harness/verdict"
	"assay/reports"
	"assay/spec"
)

// small is a result of two requirements.
func small() reports.Result {
	r := reports.Result{
		Format: reports.Format, Tool: "assay v1", Suite: "toy", Subject: "./toy", Access: spec.AccessOf(spec.Wire), Seed: 7, Nonce: "n1", Profile: "quick",
		Requirements: []reports.Requirement{
			{ID: "TOY-001", Section: "1", Title: "Ids are unique", Level: spec.Must, Binds: spec.Parties(spec.Server), Status: verdict.Satisfied, Observations: 3},
			{ID: "TOY-002", Section: "1", Title: "Ids ascend", Level: spec.Must, Binds: spec.Parties(spec.Server), Status: verdict.Violated,
				Violations: []reports.Violation{{Scenario: "toy/append", Assertion: "ascend", Expected: "an id above 4", Got: "3", Replay: "assay replay out/TOY-002.assay.json"}}},
		},
	}
	r.Summary = reports.Summarise(r.Requirements)
	return r
}

func ExampleWriteTerminal() {
	if err := reports.WriteTerminal(os.Stdout, small(), reports.Options{Width: 80}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// assay toy  ./toy
	// access wire  seed 7  nonce n1  profile quick
	//
	// TOY-002 violated: Ids ascend  section 1, must, server
	//   expected  an id above 4
	//   got       3
	//   in        toy/append (ascend)
	//   replay    assay replay out/TOY-002.assay.json
	//
	// 2 requirements  1 satisfied  1 violated
	// took 0s
	// the subject breaks its specification
}

func ExampleWriteJUnit() {
	var b strings.Builder
	if err := reports.WriteJUnit(&b, small()); err != nil {
		fmt.Println(err)
	}
	for _, l := range strings.Split(b.String(), "\n") {
		if strings.Contains(l, "<testcase") || strings.Contains(l, "<failure") {
			fmt.Println(strings.TrimSpace(l))
		}
	}
	// Output:
	// <testcase classname="toy" name="TOY-001 Ids are unique" time="0"></testcase>
	// <testcase classname="toy" name="TOY-002 Ids ascend" time="0">
	// <failure message="TOY-002 violated: expected an id above 4, got 3" type="violated">&#xA;TOY-002 violated: Ids ascend  section 1, must, server&#xA;  expected  an id above 4&#xA;  got       3&#xA;  in        toy/append (ascend)&#xA;  replay    assay replay out/TOY-002.assay.json&#xA;</failure>
}

func ExampleWriteMarkdown() {
	var b strings.Builder
	if err := reports.WriteMarkdown(&b, small()); err != nil {
		fmt.Println(err)
	}
	fmt.Println(strings.SplitN(b.String(), "\n", 2)[0])
	// Output: ## `toy`: the subject breaks its specification
}

func ExampleWriteJSON() {
	var b strings.Builder
	if err := reports.WriteJSON(&b, small()); err != nil {
		fmt.Println(err)
	}
	back, err := reports.ReadJSON(strings.NewReader(b.String()), "results.json")
	fmt.Println(back.Summary.Violated, back.ExitStatus(false), err)
	// Output: 1 1 <nil>
}
