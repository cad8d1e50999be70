package reports

import (
	"fmt"
	"strconv"
	"strings"

	"assay/spec"
)

// runs writes ids compactly: "API-001 to API-004, API-010". Only neighbours in
// number are joined, so a reader can tell exactly which ids are meant.
func runs(list []spec.ID) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && follows(list[j], list[j+1]) {
			j++
		}
		switch j - i {
		case 0:
			parts = append(parts, string(list[i]))
		case 1:
			parts = append(parts, string(list[i]), string(list[j]))
		default:
			parts = append(parts, fmt.Sprintf("%s to %s", list[i], list[j]))
		}
		i = j + 1
	}
	return strings.Join(parts, ", ")
}

func follows(a, b spec.ID) bool {
	la, na, okA := strings.Cut(string(a), "-")
	lb, nb, okB := strings.Cut(string(b), "-")
	if !okA || !okB || la != lb {
		return false
	}
	x, errX := strconv.Atoi(na)
	y, errY := strconv.Atoi(nb)
	return errX == nil && errY == nil && y == x+1
}
