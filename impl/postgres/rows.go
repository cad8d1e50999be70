package postgres

import "github.com/jackc/pgx/v5"

// Rows is what the scan function of a statement reads one row from.
type Rows = pgx.Rows
