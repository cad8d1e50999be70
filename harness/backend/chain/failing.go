package chain

import (
	"encoding/json"
	"io"
	"net/http"
)

// internalError is the code of JSON-RPC for a node that cannot do its work.
const internalError = -32603

// fail answers a call, or each of a batch, with an error.
func fail(w http.ResponseWriter, r *http.Request) {
	type call struct {
		ID json.RawMessage `json:"id"`
	}
	type answer struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	answerTo := func(c call) answer {
		a := answer{Version: "2.0", ID: c.ID}
		if a.ID == nil {
			a.ID = json.RawMessage("null")
		}
		a.Error.Code, a.Error.Message = internalError, "the simulated chain is cut"
		return a
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "the request cannot be read", http.StatusBadRequest)
		return
	}
	var one call
	var many []call
	var out any
	switch {
	case json.Unmarshal(body, &one) == nil:
		out = answerTo(one)
	case json.Unmarshal(body, &many) == nil:
		answers := make([]answer, len(many))
		for i, c := range many {
			answers[i] = answerTo(c)
		}
		out = answers
	default:
		out = answerTo(call{})
	}
	w.Header().Set("Content-Type", "application/json")
	// A client that is gone needs no answer.
	_ = json.NewEncoder(w).Encode(out)
}
