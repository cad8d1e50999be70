package run

import "fmt"

var profileNames = [...]string{"quick", "default", "exhaustive"}

// String returns the word of the command line.
func (p Profile) String() string {
	if int(p) >= len(profileNames) {
		return "invalid"
	}
	return profileNames[p]
}

// ParseProfile reads the word that String writes.
func ParseProfile(s string) (Profile, error) {
	for i, n := range profileNames {
		if n == s {
			return Profile(i), nil
		}
	}
	return 0, fmt.Errorf("profile %q is unknown: use quick, default or exhaustive", s)
}
