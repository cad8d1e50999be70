package mutants

import (
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/grpc/codes"
)

// endCall answers a call with a status before anything reads it, in the dialect
// it came in.
func endCall(w http.ResponseWriter, r *http.Request, code codes.Code, text string) {
	contentType := r.Header.Get("Content-Type")
	w.Header().Set("Content-Type", contentType)
	if !strings.HasPrefix(contentType, "application/grpc-web") {
		w.WriteHeader(http.StatusOK)
		// The header goes first, so that the status is a trailer.
		_ = http.NewResponseController(w).Flush()
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", strconv.Itoa(int(code)))
		w.Header().Set(http.TrailerPrefix+"Grpc-Message", text)
		return
	}
	trailer := fmt.Sprintf("grpc-status: %d\r\ngrpc-message: %s\r\n", code, text)
	frame := binary.BigEndian.AppendUint32([]byte{0x80}, uint32(len(trailer)))
	// A client that is gone needs no answer.
	_, _ = w.Write(append(frame, trailer...))
}
