package backend

import (
	"testing"

	"assay/model"
	rules "assay/model/backend"
)

// formEvents is a history of calls of one method, one after the other.
func formEvents(direct bool, calls ...any) []model.Event {
	out := []model.Event{{Phase: model.Mark, Value: &rules.Terms{Direct: direct}}}
	for i, c := range calls {
		e := model.Event{Index: len(out), Actor: "A", Call: i/2 + 1, Value: c}
		switch c.(type) {
		case *rules.Call:
			e.Phase = model.Invoke
		case *rules.Return:
			e.Phase = model.Return
		}
		out = append(out, e)
	}
	return out
}

func TestOnePortIsHeldToBothFormsOfTheTransport(t *testing.T) {
	native, web, web2 := &rules.Call{Method: rules.MethodQuery}, &rules.Call{Method: rules.MethodQuery, Web: rules.WebHTTP1}, &rules.Call{Method: rules.MethodQuery, Web: rules.WebHTTP2}
	ok, page, lost, refused := &rules.Return{}, &rules.Return{Code: rules.Unknown, Garbled: "a page"}, &rules.Return{Lost: rules.LostCut}, &rules.Return{Code: rules.Unimplemented}
	for name, c := range map[string]struct {
		events   []model.Event
		held     int
		breached int
	}{
		"both are answered":                      {formEvents(true, native, ok, web, ok), 1, 0},
		"both are answered behind a proxy":       {formEvents(false, native, ok, web2, ok), 1, 0},
		"gRPC-Web meets a page":                  {formEvents(true, native, ok, web, page), 0, 1},
		"gRPC-Web meets a page before gRPC":      {formEvents(true, web, page, native, ok), 0, 1},
		"a proxy answers gRPC-Web with a page":   {formEvents(false, native, ok, web, page), 0, 0},
		"one version of HTTP is enough":          {formEvents(true, native, ok, web2, page, web, ok), 1, 0},
		"a later page takes nothing back":        {formEvents(true, native, ok, web, ok, web, page), 1, 0},
		"gRPC meets a page too":                  {formEvents(true, native, page, web, page), 0, 0},
		"gRPC alone":                             {formEvents(true, native, ok), 0, 0},
		"gRPC-Web alone":                         {formEvents(true, web, ok), 0, 0},
		"a lost answer shows nothing":            {formEvents(true, native, ok, web, lost), 0, 0},
		"a refusal does not show that it serves": {formEvents(true, native, ok, web, refused), 0, 0},
	} {
		held, breached := 0, 0
		for _, v := range judgeForms(c.events).Judgements {
			if v.Breach == nil {
				held++
				continue
			}
			breached++
			if len(v.Breach.Events) != 4 || v.Breach.Got != "a page" {
				t.Errorf("%s: %+v", name, v.Breach)
			}
		}
		if held != c.held || breached != c.breached {
			t.Errorf("%s: held %d, breached %d", name, held, breached)
		}
	}
}

func TestAFrameShowsThatAFormIsServedWhateverTheEnd(t *testing.T) {
	events := formEvents(true, &rules.Call{Method: rules.MethodQuery}, &rules.Return{}, &rules.Call{Method: rules.MethodStatic, Web: rules.WebHTTP1})
	events = append(events, model.Event{Phase: model.Receive, Actor: "A", Call: 2, Value: &rules.Response{Keepalive: true}},
		model.Event{Phase: model.Return, Actor: "A", Call: 2, Value: &rules.Return{Lost: rules.LostCut}})
	if got := judgeForms(events).Judgements; len(got) != 1 || got[0].Breach != nil || got[0].Call != 2 {
		t.Errorf("%+v", got)
	}
}
