package postgres

import (
	"context"
	"errors"
)

// DownloadOptions say which image to run.
type DownloadOptions struct{}

func openDownload(ctx context.Context, o Options) (*Server, error) {
	return nil, errors.New("not part of this version")
}
