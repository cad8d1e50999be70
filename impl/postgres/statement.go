package postgres

import (
	"fmt"
	"strings"
)

// Statement is one SQL command and the name of the point at which an actor can
// be held while it runs.
type Statement struct {
	point string
	sql   string
}

// NewStatement tags sql with the name of its point. A name is made of lower
// case letters, dots and hyphens; anything else is a mistake in the program
// and panics, so statements are made when the program starts.
func NewStatement(point, sql string) Statement {
	for _, r := range point {
		if (r < 'a' || r > 'z') && r != '.' && r != '-' {
			panic(fmt.Sprintf("postgres: point %q is not made of lower case letters, dots and hyphens", point))
		}
	}
	if point == "" {
		panic("postgres: a statement needs the name of its point")
	}
	// The tag comes first: pg_stat_activity and most logs cut long statements
	// at their end.
	return Statement{point: point, sql: "/*point='" + point + "'*/ " + strings.TrimSpace(sql)}
}

// Point returns the name of the statement's point.
func (s Statement) Point() string { return s.point }

// String returns the command as it is sent, tag included.
func (s Statement) String() string { return s.sql }
