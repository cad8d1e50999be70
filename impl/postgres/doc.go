// Package postgres is what the reference implementations share of Postgres: a
// pool, transactions with a budget, statements that carry the name of their
// point, a migration runner, and the meaning of a SQLSTATE.
//
// Start with [Open], then [Pool.Read] for one statement on its own and
// [Pool.Begin] for a transaction.
//
// It promises that
//   - one call is one statement and one round trip: nothing is batched, so
//     whoever stands between this program and its database can hold exactly
//     one named statement;
//   - every statement begins with a comment that names its point,
//     /*point='publish.lock'*/;
//   - a transaction ends within its budget, also on servers that have no
//     transaction_timeout (see [Options.TransactionTimeout]);
//   - a connection whose statement was interrupted is closed and never used
//     again, so nobody inherits an open transaction or a late cancellation;
//   - no error text contains a password.
//
// It does not check SQL, and does not retry anything.
package postgres
