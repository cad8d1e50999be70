package reports_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"assay/reports"
)

// TestTheDocumentedResultIsOne keeps docs/results-format.md true.
func TestTheDocumentedResultIsOne(t *testing.T) {
	text, err := os.ReadFile("../docs/results-format.md")
	if err != nil {
		t.Fatal(err)
	}
	example := regexp.MustCompile("(?s)```json\n(.*?)```").FindSubmatch(text)
	if example == nil {
		t.Fatal("the page has no example")
	}
	if _, err := reports.ReadJSON(strings.NewReader(string(example[1])), "docs/results-format.md"); err != nil {
		t.Error(err)
	}
}
