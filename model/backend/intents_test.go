package backend

import (
	"reflect"
	"strings"
	"testing"
)

// An intent says what is meant and nothing about what should come of it, so that
// neither a generator nor a scenario can hand the judge its expectation.
func TestNoIntentNamesACodeAReasonOrAnOutcome(t *testing.T) {
	forbidden := []string{"code", "reason", "outcome", "status", "error", "expect", "accept", "reject", "refus", "valid", "legal", "result", "verdict", "succeed", "success", "fail", "detail", "response", "answer"}
	results := []reflect.Type{reflect.TypeFor[Code](), reflect.TypeFor[Reason](), reflect.TypeFor[Detail](), reflect.TypeFor[Lost](), reflect.TypeFor[Return](),
		reflect.TypeFor[Meta](), reflect.TypeFor[Row](), reflect.TypeFor[Page](), reflect.TypeFor[Published](), reflect.TypeFor[Heads](), reflect.TypeFor[Configuration]()}
	check := func(where, name string) {
		for _, word := range forbidden {
			if strings.Contains(strings.ToLower(name), word) {
				t.Errorf("%s: %q names what should come of an intent (%q)", where, name, word)
			}
		}
	}
	seen := make(map[reflect.Type]bool)
	var walk func(where string, typ reflect.Type)
	walk = func(where string, typ reflect.Type) {
		for _, r := range results {
			if typ == r {
				t.Errorf("%s has type %s, which is part of an answer", where, typ)
			}
		}
		if seen[typ] {
			return
		}
		seen[typ] = true
		if typ.Name() != "" {
			check(where, typ.Name())
		}
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array:
			walk(where+"[]", typ.Elem())
		case reflect.Map:
			walk(where+" key", typ.Key())
			walk(where+" value", typ.Elem())
		case reflect.Struct:
			for i := range typ.NumField() {
				f := typ.Field(i)
				at := typ.String() + "." + f.Name
				check(at, f.Name)
				check(at+" in a file", f.Tag.Get("json"))
				walk(at, f.Type)
			}
		case reflect.Interface, reflect.Func, reflect.Chan:
			t.Errorf("%s is a %s, which can hold anything", where, typ.Kind())
		}
	}
	for _, intent := range []reflect.Type{reflect.TypeFor[Envelope](), reflect.TypeFor[Read](), reflect.TypeFor[Log]()} {
		walk(intent.String(), intent)
	}
	// Whatever else a call is made of, with the artefacts that craft adds.
	walk("Call", reflect.TypeFor[Call]())
	for _, want := range []reflect.Type{reflect.TypeFor[Envelope](), reflect.TypeFor[Asked](), reflect.TypeFor[Artefact](), reflect.TypeFor[Flaw]()} {
		if !seen[want] {
			t.Errorf("%s is not reached from Call: the test looks at too little", want)
		}
	}
	for _, f := range flaws() {
		check("flaw", string(f))
	}
	for _, f := range TopicFlaws() {
		check("topic flaw", string(f))
	}
}
