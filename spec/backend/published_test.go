package backend_test

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"

	"assay/spec/backend"

	"github.com/google/go-cmp/cmp"
)

// A limit that claims to be published has to have a field of the configuration
// response, and a field without a limit would be one that nobody compares.
func TestPublishedLimitsAreTheFieldsOfTheConfigurationResponse(t *testing.T) {
	tree, err := backend.Proto()
	if err != nil {
		t.Fatal(err)
	}
	source, err := fs.ReadFile(tree, "backend/v1/backend.proto")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for prefix, message := range map[string]string{
		"limits": "LimitsConfiguration", "retention": "RetentionConfiguration", "mls": "MlsConfiguration",
	} {
		body := regexp.MustCompile(`(?s)message ` + message + ` \{(.*?)\n\}`).FindSubmatch(source)
		if body == nil {
			t.Fatalf("the source has no message %s", message)
		}
		for _, field := range regexp.MustCompile(`(?m)^\s*uint(?:32|64)\s+(\w+)\s*=`).FindAllSubmatch(body[1], -1) {
			want = append(want, prefix+"."+string(field[1]))
		}
	}
	var got []string
	for _, l := range load(t).Limits() {
		if l.Published() {
			got = append(got, l.PublishedAs)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-fields +limits):\n%s", diff)
	}
}
