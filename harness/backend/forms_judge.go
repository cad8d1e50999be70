package backend

import (
	"fmt"
	"slices"

	"assay/model"
	rules "assay/model/backend"
	"assay/spec/gen/backendreq"
)

// bothForms says that the port that answers gRPC answers gRPC-Web (API-160).
var bothForms = model.Assertion{Name: "one-port-answers-grpc-and-grpc-web", Requirement: backendreq.API160, Basis: model.Spec}

// formsOf is what one actor, who stays on one port, met there.
type formsOf struct {
	native []int // the events of a native call that was answered
	web    []int // the events of a gRPC-Web call that was answered
	failed []int // the events of the first that was answered in no gRPC at all
	call   int   // of web, or else of failed
}

// judgeForms judges actors that used both forms of the transport. An answer in one
// of HTTP/1.1 and HTTP/2 is enough: the specification asks for gRPC-Web and not
// for a version of HTTP under it. What stands before a subject is not the subject,
// so a failure counts only where nothing does.
func judgeForms(events []model.Event) model.Judged {
	out := model.Judged{Witnesses: make(map[string]bool), Unimplemented: make(map[string]int)}
	if !slices.ContainsFunc(events, overWeb) {
		return out
	}
	direct := false
	calls := make(map[int]*rules.Call)
	invoked := make(map[int]int)
	heard := make(map[int]bool) // calls that brought a frame
	actors := make(map[string]*formsOf)
	var order []string
	for i, e := range events {
		switch v := e.Value.(type) {
		case *rules.Terms:
			direct = direct || v != nil && v.Direct
		case *rules.Call:
			if v != nil && e.Phase == model.Invoke {
				calls[e.Call], invoked[e.Call] = v, i
			}
		case *rules.Response:
			heard[e.Call] = true
		case *rules.Return:
			c := calls[e.Call]
			if c == nil || v == nil || c.Method == rules.MethodSettings {
				continue
			}
			f := actors[e.Actor]
			if f == nil {
				f = &formsOf{}
				actors[e.Actor], order = f, append(order, e.Actor)
			}
			f.add(e.Call, c.Web, heard[e.Call], v, []int{invoked[e.Call], i})
		}
	}
	for _, name := range order {
		switch f := actors[name]; {
		case f.native == nil:
		case f.web != nil:
			out.Judgements = append(out.Judgements, model.Judgement{Assertion: bothForms, Call: f.call})
		case f.failed != nil && direct:
			proof := slices.Sorted(slices.Values(append(slices.Clone(f.native), f.failed...)))
			garbled := events[f.failed[1]].Value.(*rules.Return).Garbled
			out.Judgements = append(out.Judgements, model.Judgement{Assertion: bothForms, Call: f.call, Breach: &model.Breach{
				Expected: fmt.Sprintf("an answer in gRPC-Web on the port that answers %s in gRPC", name), Got: garbled, Events: proof}})
		}
	}
	return out
}

func overWeb(e model.Event) bool {
	c, ok := e.Value.(*rules.Call)
	return ok && c != nil && c.Web != rules.Native
}

// add takes in one call. Only OK or a frame shows that a form is served: a server
// that knows no such form may well say so in a status.
func (f *formsOf) add(call int, web rules.Web, heard bool, r *rules.Return, events []int) {
	answered := heard || r.Lost == rules.Answered && r.Garbled == "" && r.Code == rules.OK
	switch {
	case answered && web == rules.Native:
		if f.native == nil {
			f.native = events
		}
	case answered:
		if f.web == nil {
			f.web, f.call = events, call
		}
	case web != rules.Native && r.Garbled != "" && f.failed == nil && f.web == nil:
		f.failed, f.call = events, call
	}
}
