package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"assay/model/backend"
	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// Names of the trailers that carry a status, as net/http writes them.
const (
	statusHeader  = "Grpc-Status"
	messageHeader = "Grpc-Message"
	detailsHeader = "Grpc-Status-Details-Bin"
)

const (
	// mostText bounds text of a peer, in bytes, escapes included.
	mostText = 300
	// mostDetails bounds the details kept of one status.
	mostDetails = 64
)

// readStatus reads the status that a peer sent. The error says what is wrong
// where there is none.
func readStatus(h http.Header) (answer, error) {
	values := h[statusHeader]
	if len(values) == 0 {
		return answer{}, errors.New("the response ends without a grpc-status")
	}
	code, err := strconv.ParseUint(values[0], 10, 32)
	if err != nil || len(values) > 1 {
		return answer{}, fmt.Errorf("the grpc-status is %q, which is not one number", bounded(strings.Join(values, ", ")))
	}
	a := answer{hasStatus: true, code: backend.Code(code), text: bounded(unpercent(h.Get(messageHeader)))}
	if raw := h.Get(detailsHeader); raw != "" {
		if a.details, err = readDetails(raw); err != nil {
			// To the rules this is a status without details. Whoever looks for the
			// reason finds it in the text.
			a.text = bounded(a.text + " [" + err.Error() + "]")
		}
	}
	return a, nil
}

// readDetails finds the publish errors in a grpc-status-details-bin value.
func readDetails(raw string) ([]backend.Detail, error) {
	raw, _, _ = strings.Cut(raw, ",")
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(raw, "="))
	if err != nil {
		return nil, errors.New("grpc-status-details-bin is not base64")
	}
	var status rpcstatus.Status
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, &status); err != nil {
		return nil, errors.New("grpc-status-details-bin is no google.rpc.Status")
	}
	name := (*backendv1.PublishError)(nil).ProtoReflect().Descriptor().FullName()
	var details []backend.Detail
	for _, d := range status.GetDetails() {
		if typ := d.GetTypeUrl(); typ[strings.LastIndexByte(typ, '/')+1:] != string(name) {
			continue
		}
		var p backendv1.PublishError
		if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(d.GetValue(), &p); err != nil {
			return nil, errors.New("a publish error in grpc-status-details-bin does not decode")
		}
		if len(details) == mostDetails {
			return details, fmt.Errorf("more than %d publish errors in grpc-status-details-bin", mostDetails)
		}
		details = append(details, backend.Detail{Index: p.Index, Reason: backend.Reason(p.GetReason())})
	}
	return details, nil
}

// unpercent undoes the percent-encoding of grpc-message; what is no escape stays.
func unpercent(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// bounded makes text of a peer fit to be shown: what is not printable is escaped,
// and what goes past mostText is cut off.
func bounded(s string) string {
	const ellipsis = "…"
	out, keep := make([]byte, 0, min(len(s), mostText)+8), 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			out = fmt.Appendf(out, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			out = utf8.AppendRune(out, r)
		default:
			quoted := strconv.AppendQuoteRuneToASCII(nil, r)
			out = append(out, quoted[1:len(quoted)-1]...)
		}
		if len(out) > mostText {
			return string(out[:keep]) + ellipsis
		}
		if len(out) <= mostText-len(ellipsis) {
			keep = len(out)
		}
		i += n
	}
	return string(out)
}
