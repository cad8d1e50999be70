package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"sort"

	"github.com/jackc/pgx/v5"
)

// Migrate brings a schema up to the newest of the files in fsys, which are
// named so that their order is that of application (0001_envelopes.sql).
// family tells apart the schemas that share a database.
//
// Everything happens in one transaction under one advisory lock, so any number
// of servers may start on one database at the same time: the first does the
// work and the others wait. A file that was applied and has changed since is an
// error: add a new file instead.
//
// (A migration library was considered: those at hand poll for their lock in
// whole seconds and want a second driver, for a task of one page.)
func Migrate(ctx context.Context, p *Pool, family string, fsys fs.FS) error {
	files, err := fs.Glob(fsys, "*.sql")
	if err != nil {
		return fmt.Errorf("list migrations of %s: %w", family, err)
	}
	if len(files) == 0 {
		return fmt.Errorf("there are no migrations of %s", family)
	}
	sort.Strings(files)
	tx, err := p.Begin(ctx)
	if err != nil {
		return fmt.Errorf("migrate %s: %w", family, err)
	}
	defer tx.Rollback(ctx)
	for _, s := range []Statement{migrateLock, migrateTable} {
		if err := tx.Run(ctx, s, nil); err != nil {
			return fmt.Errorf("migrate %s: %w", family, err)
		}
	}
	applied := make(map[string]string)
	if err := tx.Run(ctx, migrateRead, func(rows pgx.Rows) error {
		var name, digest string
		err := rows.Scan(&name, &digest)
		applied[name] = digest
		return err
	}, family); err != nil {
		return fmt.Errorf("migrate %s: %w", family, err)
	}
	for _, file := range files {
		if err := migrateOne(ctx, tx, family, fsys, file, applied[path.Base(file)]); err != nil {
			return fmt.Errorf("migrate %s: %s: %w", family, file, err)
		}
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("migrate %s: %w", family, err)
	}
	return nil
}

func migrateOne(ctx context.Context, tx *Tx, family string, fsys fs.FS, file, applied string) error {
	content, err := fs.ReadFile(fsys, file)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	switch applied {
	case digest:
		return nil
	case "":
	default:
		return fmt.Errorf("applied as %.8s, but the file is %.8s: restore the file and put the change into a new one", applied, digest)
	}
	if err := tx.command(ctx, "migrate", "/*point='migrate'*/ "+string(content), ""); err != nil {
		return err
	}
	return tx.Run(ctx, migrateRecord, nil, family, path.Base(file), digest)
}

// The lock's key is a pair: those live in another space than the single keys
// that a suite locks its rows with. The number spells "asmg".
var (
	migrateLock  = NewStatement("migrate.lock", `SELECT pg_advisory_xact_lock(1634954599, 0)`)
	migrateTable = NewStatement("migrate.table", `
CREATE TABLE IF NOT EXISTS schema_migration (
	family     text NOT NULL,
	name       text NOT NULL,
	sha256     text NOT NULL,
	applied_at timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (family, name)
)`)
	migrateRead   = NewStatement("migrate.read", `SELECT name, sha256 FROM schema_migration WHERE family = $1`)
	migrateRecord = NewStatement("migrate.record", `INSERT INTO schema_migration (family, name, sha256) VALUES ($1, $2, $3)`)
)
