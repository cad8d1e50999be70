package mutants

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"net/http"

	"google.golang.org/protobuf/encoding/protowire"

	"assay/impl/backend"
	"assay/impl/backend/config"
	"assay/spec"
	"assay/spec/gen/backendreq"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// hashOverWireBytes remembers how the client happened to order the fields of an
// envelope: an envelope that did not arrive in canonical form gets a mark, which
// is stored and hashed with it.
func hashOverWireBytes() Mutant {
	return Mutant{
		Name:         "hash-over-wire-bytes",
		Summary:      "makes an envelope whose fields arrive in another order a new envelope",
		Requirements: []spec.ID{backendreq.API020},
		Relating:     true,
		Apply: func(p *backend.Parts, _ *config.Config) {
			p.Transport = func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == backendv1.PublishService_Publish_FullMethodName && r.Method == http.MethodPost {
						body, err := io.ReadAll(io.LimitReader(r.Body, readAtMost))
						if err == nil {
							r = r.WithContext(context.WithValue(r.Context(), wireKey{}, body))
						}
						r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
					}
					next.ServeHTTP(w, r)
				})
			}
			aroundPublish(p, func(ctx context.Context, r *backendv1.PublishRequest, next publishFunc) (*backendv1.PublishResponse, error) {
				body, _ := ctx.Value(wireKey{}).([]byte)
				for i, wire := range wireEnvelopes(body) {
					if i >= len(r.GetEnvelopes()) {
						break
					}
					if canonical, err := backend.Canonical(r.Envelopes[i]); err == nil && !bytes.Equal(canonical, wire) {
						sum := sha256.Sum256(wire)
						mark := protowire.AppendTag(nil, 1000, protowire.BytesType)
						r.Envelopes[i].ProtoReflect().SetUnknown(protowire.AppendBytes(mark, sum[:]))
					}
				}
				return next(ctx, r)
			})
		},
	}
}

// readAtMost is above the largest request that the front accepts.
const readAtMost = 30 << 20

type wireKey struct{}

// wireEnvelopes cuts the envelopes out of the body of a native publish call.
func wireEnvelopes(body []byte) [][]byte {
	const prefix = 5
	if len(body) < prefix {
		return nil
	}
	var all [][]byte
	for rest := body[prefix:]; len(rest) > 0; {
		number, kind, n := protowire.ConsumeTag(rest)
		if n < 0 {
			return all
		}
		rest = rest[n:]
		if number == 1 && kind == protowire.BytesType {
			envelope, n := protowire.ConsumeBytes(rest)
			if n < 0 {
				return all
			}
			all, rest = append(all, envelope), rest[n:]
			continue
		}
		if n = protowire.ConsumeFieldValue(number, kind, rest); n < 0 {
			return all
		}
		rest = rest[n:]
	}
	return all
}
