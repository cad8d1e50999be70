package postgres

import (
	"context"
	"fmt"
)

// EndSessions cuts every connection to the database but our own, as an operator or a failover would, and returns how
// many there were. Whatever they were doing is rolled back, unless its commit was already under way.
func (d *Database) EndSessions(ctx context.Context) (int, error) {
	conn, err := d.server.Admin(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var ended int
	err = conn.QueryRow(ctx, `SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = $1 AND backend_type = 'client backend' AND application_name NOT IN ($2, $3)`,
		d.name, applicationAdmin, applicationOwner).Scan(&ended)
	if err != nil {
		return 0, fmt.Errorf("ending the sessions of database %s: %w", d.name, err)
	}
	return ended, nil
}
