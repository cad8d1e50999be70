package postgres_test

import (
	"context"
	"fmt"
	"log"

	"github.com/jackc/pgx/v5"

	"assay/harness/postgres"
)

// A run asks for a server, takes a database of its own, and lets go of both.
func ExampleOpen() {
	ctx := context.Background()
	server, err := postgres.Open(ctx, postgres.Options{
		URL:      "", // of a server to use; empty to find or start one
		Settings: map[string]string{"max_connections": "400"},
	})
	if err != nil {
		log.Fatal(err) // says what was tried, and what to do
	}
	defer server.Close()

	database, err := server.CreateDatabase(ctx, "example")
	if err != nil {
		log.Print(err)
		return
	}
	conn, err := pgx.Connect(ctx, database.URL())
	if err != nil {
		log.Print(err)
		return
	}
	defer conn.Close(ctx)
	var connections, encoding string
	if err := conn.QueryRow(ctx, `SELECT current_setting('max_connections'), current_setting('server_encoding')`).Scan(&connections, &encoding); err != nil {
		log.Print(err)
		return
	}
	fmt.Println(connections, encoding)
	// Output: 400 UTF8
}
