package backend

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// WholeRequest is the index of a refusal that is not about one envelope.
const WholeRequest = -1

// Refusal is a request that the backend turned down, and why (section 12).
type Refusal struct {
	Code codes.Code
	// Index is the envelope at fault in the request's own numbering, or
	// WholeRequest.
	Index int
	// Reason is set exactly for an InvalidArgument of a publish (API-047).
	Reason backendv1.PublishError_Reason
	// Text states the condition in plain words (API-150).
	Text string
}

func (r *Refusal) Error() string {
	if r.Index == WholeRequest {
		return fmt.Sprintf("%v: %s", r.Code, r.Text)
	}
	return fmt.Sprintf("%v: envelope %d: %s", r.Code, r.Index, r.Text)
}

// refuseEnvelope refuses a publish for one of its envelopes.
func refuseEnvelope(index int, reason backendv1.PublishError_Reason, format string, args ...any) *Refusal {
	return &Refusal{Code: codes.InvalidArgument, Index: index, Reason: reason, Text: fmt.Sprintf(format, args...)}
}

// refusePublish refuses a publish as a whole.
func refusePublish(reason backendv1.PublishError_Reason, format string, args ...any) *Refusal {
	return refuseEnvelope(WholeRequest, reason, format, args...)
}

// refuseRead refuses a read.
func refuseRead(format string, args ...any) *Refusal {
	return &Refusal{Code: codes.InvalidArgument, Index: WholeRequest, Text: fmt.Sprintf(format, args...)}
}

// GRPCStatus gives the refusal its wire form; package status finds it there.
func (r *Refusal) GRPCStatus() *status.Status {
	s := status.New(r.Code, r.Text)
	if r.Code != codes.InvalidArgument || r.Reason == backendv1.PublishError_REASON_UNSPECIFIED {
		return s
	}
	detail := &backendv1.PublishError{Reason: r.Reason, Message: r.Text}
	if r.Index != WholeRequest {
		detail.Index = proto.Uint32(uint32(r.Index))
	}
	with, err := s.WithDetails(detail)
	if err != nil {
		return s
	}
	return with
}

// answer turns what a stage returned into what a client is told. What the
// store said stays here: it may quote what others wrote.
func answer(err error) error {
	if err == nil {
		return nil
	}
	if refusal, ok := errors.AsType[*Refusal](err); ok {
		return refusal.GRPCStatus().Err()
	}
	if stored, ok := errors.AsType[*StoreError](err); ok {
		switch stored.Kind {
		case Timeout:
			return status.Error(codes.DeadlineExceeded, "the database took too long")
		case Conflict:
			return status.Error(codes.Internal, "the database refused what should have been stored; nothing of the request was")
		case Canceled:
			return status.Error(codes.Canceled, "the caller went away")
		default:
			return status.Error(codes.Unavailable, "the database is not available")
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return status.FromContextError(err).Err()
	}
	return status.Error(codes.Internal, "the backend failed")
}
