package spec

import (
	"fmt"
	"strings"
)

// ID names one requirement: the letters of its specification, a hyphen and
// three digits, as in "API-033". Ids of one specification sort as strings.
type ID string

const (
	maxIDLetters = 8
	idDigits     = 3
)

// ParseID reads an id exactly as a specification spells it: no spaces, no
// lower case, no missing zeros.
func ParseID(s string) (ID, error) {
	letters, digits, found := strings.Cut(s, "-")
	if !found || len(letters) < 2 || len(letters) > maxIDLetters || len(digits) != idDigits ||
		!within(letters, 'A', 'Z') || !within(digits, '0', '9') {
		return "", fmt.Errorf("%s is not a requirement id: write two to %d capital letters, a hyphen and %d digits, as in API-033",
			quote(s), maxIDLetters, idDigits)
	}
	return ID(s), nil
}

// String returns the id as its specification spells it.
func (id ID) String() string { return string(id) }

func within(s string, low, high byte) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < low || s[i] > high {
			return false
		}
	}
	return true
}

// quote makes any text safe to print and short enough to read: catalogues and
// addresses are typed by people, and a mistake can be a whole file.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%q (cut, %d bytes)", s[:most], len(s))
	}
	return fmt.Sprintf("%q", s)
}
