package reports

import (
	"fmt"
	"io"
	"strings"

	"assay/harness/verdict"
	"assay/spec"
)

// WriteMarkdown writes a summary for a pull request or a job page. Whatever a
// subject said stands in code, fenced by more backticks than it contains: no
// link, mention, image or tag of its making comes alive.
func WriteMarkdown(w io.Writer, r Result) error {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s: %s\n\n", code(clean(r.Suite, 40)), verdictLine(r))
	fmt.Fprintf(&b, "%s, access %s, seed %d, nonce %s, profile %s, took %s\n\n",
		code(clean(r.Subject, 200)), r.Access, r.Seed, code(clean(r.Nonce, 80)), code(clean(r.Profile, 20)), span(r.Timings.Total))
	b.WriteString("| status | requirements |\n| --- | ---: |\n")
	for _, s := range verdict.Statuses() {
		fmt.Fprintf(&b, "| %s | %d |\n", words(s), r.Summary.Of(s))
	}
	fmt.Fprintf(&b, "| **all** | **%d** |\n", r.Summary.Total)

	for _, q := range r.Requirements {
		if q.Status == verdict.Violated {
			fmt.Fprintf(&b, "\n### %s violated\n\n%s\n", q.ID, fence(strings.Trim(plain(q), "\n")))
		}
	}
	section(&b, "Not decided", undecided(r.Requirements), func(g []Requirement) string {
		var list []spec.ID
		for _, q := range g {
			list = append(list, q.ID)
		}
		return fmt.Sprintf("%s %s: %s", runs(list), words(g[0].Status), code(clean(g[0].Reason, maxText)))
	})
	section(&b, "Scenarios that failed", r.Failures, func(f Failure) string {
		return code(clean(f.Scenario, 200)) + ": " + code(clean(f.Reason, maxText))
	})
	section(&b, "Not implemented by the subject", r.Unimplemented, func(u Unimplemented) string {
		return code(clean(u.Call, 100)) + ": " + ids(u.Requirements)
	})
	section(&b, "Advice", r.Advice, func(a string) string { return code(clean(a, maxText)) })
	b.WriteString("\n<details><summary>All requirements</summary>\n\n| id | requirement | status | observations |\n| --- | --- | --- | ---: |\n")
	for _, q := range r.Requirements {
		fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", q.ID, cell(clean(q.Title, 200)), words(q.Status), q.Observations)
	}
	b.WriteString("\n</details>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// section writes a heading and a list; nothing when the list is empty.
func section[T any](b *strings.Builder, title string, entries []T, item func(T) string) {
	if len(entries) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n\n", title)
	for _, e := range entries {
		fmt.Fprintf(b, "- %s\n", item(e))
	}
}

func verdictLine(r Result) string {
	return (&page{}).conclusion(r)
}

// ticks returns a run of backticks longer than any in s, and at least least.
func ticks(s string, least int) string {
	longest, run := 0, 0
	for _, c := range s {
		if c == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return strings.Repeat("`", max(least, longest+1))
}

// code puts one line of cleaned text into a code span.
func code(s string) string {
	if s == "" {
		return "(empty)"
	}
	t := ticks(s, 1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || strings.HasPrefix(s, " ") && strings.HasSuffix(s, " ") {
		s = " " + s + " " // Markdown takes one space off each side
	}
	return t + s + t
}

// fence puts lines into a code block.
func fence(s string) string {
	t := ticks(s, 3)
	return t + "text\n" + s + "\n" + t
}

// cell escapes a title of the catalogue, our own words, for a table cell.
func cell(s string) string {
	return strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", ">", "&gt;", "&", "&amp;",
		"`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "@", "&#64;").Replace(s)
}
