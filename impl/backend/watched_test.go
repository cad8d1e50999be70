package backend_test

import (
	"context"

	"assay/impl/backend"
)

// watched tells an actor of every statement before it runs.
type watched struct {
	backend.Store
	actor *actor
}

func (w watched) Lookup(ctx context.Context, keys []backend.Key) ([]backend.Known, error) {
	w.actor.at(backend.PointLookup)
	return w.Store.Lookup(ctx, keys)
}

func (w watched) History(ctx context.Context, topic backend.Topic) ([]backend.Entry, error) {
	w.actor.at(backend.PointHistory)
	return w.Store.History(ctx, topic)
}

func (w watched) Begin(ctx context.Context) (backend.Tx, error) {
	w.actor.at(backend.PointBegin)
	tx, err := w.Store.Begin(ctx)
	if err != nil {
		return nil, err
	}
	return &watchedTx{Tx: tx, actor: w.actor}, nil
}

type watchedTx struct {
	backend.Tx
	actor     *actor
	committed bool
}

func (w *watchedTx) LockIdentity(ctx context.Context) error {
	w.actor.at(backend.PointLockIdentity)
	return w.Tx.LockIdentity(ctx)
}

func (w *watchedTx) Lock(ctx context.Context, keys []int64) error {
	w.actor.at(backend.PointLock)
	return w.Tx.Lock(ctx, keys)
}

func (w *watchedTx) Recheck(ctx context.Context, keys []backend.Key) ([]backend.Known, error) {
	w.actor.at(backend.PointRecheck)
	return w.Tx.Recheck(ctx, keys)
}

func (w *watchedTx) Heads(ctx context.Context, topics []backend.Topic) ([]int64, error) {
	w.actor.at(backend.PointHeads)
	return w.Tx.Heads(ctx, topics)
}

func (w *watchedTx) Allocate(ctx context.Context, n int) ([]int64, error) {
	w.actor.at(backend.PointAllocate)
	return w.Tx.Allocate(ctx, n)
}

func (w *watchedTx) Insert(ctx context.Context, rows []backend.Row) ([]backend.Stored, error) {
	w.actor.at(backend.PointInsert)
	return w.Tx.Insert(ctx, rows)
}

func (w *watchedTx) Project(ctx context.Context, changes []backend.Association) error {
	w.actor.at(backend.PointProject)
	return w.Tx.Project(ctx, changes)
}

func (w *watchedTx) Commit(ctx context.Context) error {
	w.actor.at(backend.PointCommit)
	w.committed = true
	return w.Tx.Commit(ctx)
}

func (w *watchedTx) Rollback(ctx context.Context) {
	if !w.committed {
		w.actor.at(backend.PointRollback)
	}
	w.Tx.Rollback(ctx)
}
