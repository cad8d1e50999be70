package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
)

// Kind says what a failed statement means to a caller. The zero value is none.
type Kind uint8

const (
	// Unavailable: the database did not answer, refused, or is overloaded. The
	// same statement may succeed later.
	Unavailable Kind = iota + 1
	// Timeout: the statement or its transaction took longer than it may.
	Timeout
	// Invariant: the database refused a row that the program believed right.
	// Trying again does not help.
	Invariant
	// Canceled: whoever asked no longer waits for the answer.
	Canceled
)

// String returns the word used in messages.
func (k Kind) String() string {
	switch k {
	case Unavailable:
		return "unavailable"
	case Timeout:
		return "timeout"
	case Invariant:
		return "invariant"
	case Canceled:
		return "canceled"
	}
	return fmt.Sprintf("unknown kind %d", uint8(k))
}

// Error is a failed statement.
type Error struct {
	Kind Kind
	// Point names the statement; "acquire" when no connection was free.
	Point string
	// Err is the driver's error. Its text may quote rows: keep it out of
	// answers to clients.
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("postgres %s: %s: %v", e.Point, e.Kind, e.Err) }

// Unwrap returns the driver's error.
func (e *Error) Unwrap() error { return e.Err }

// SQLSTATEs that mean something else than "try again later".
const (
	uniqueViolation    = "23505"
	checkViolation     = "23514"
	outOfRange         = "22003"
	queryCanceled      = "57014"
	transactionTimeout = "25P04"
	idleInTransaction  = "25P03"
)

// errAborted is a COMMIT that the server answered by rolling back.
var errAborted = errors.New("the server rolled the transaction back at commit")

// classify gives an error its kind. asked is the context of whoever asked,
// without the deadline that a transaction adds to it.
func classify(asked context.Context, point string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Kind: kindOf(asked, err), Point: point, Err: err}
}

func kindOf(asked context.Context, err error) Kind {
	if errors.Is(err, errAborted) {
		return Invariant
	}
	if pg, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch pg.Code {
		case uniqueViolation, checkViolation, outOfRange:
			return Invariant
		case queryCanceled:
			if errors.Is(asked.Err(), context.Canceled) {
				return Canceled
			}
			return Timeout
		case transactionTimeout, idleInTransaction:
			return Timeout
		}
		return Unavailable
	}
	switch {
	case errors.Is(asked.Err(), context.Canceled):
		return Canceled
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout
	}
	return Unavailable
}
