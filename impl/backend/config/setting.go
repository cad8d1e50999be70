package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// setting is one value of a Config under its key.
type setting struct {
	key    string
	doc    string
	secret bool
	value  reflect.Value
}

// settings lists every single value of c. The struct is the only list there is.
func settings(c *Config) []setting {
	var all []setting
	root := reflect.ValueOf(c).Elem()
	for i := range root.NumField() {
		section, tag := root.Field(i), root.Type().Field(i).Tag.Get("toml")
		if section.Kind() != reflect.Struct {
			continue // chains have names that only the operator knows
		}
		for j := range section.NumField() {
			field := section.Type().Field(j)
			all = append(all, setting{
				key: tag + "." + field.Tag.Get("toml"), doc: field.Tag.Get("doc"),
				secret: field.Tag.Get("secret") != "", value: section.Field(j),
			})
		}
	}
	return all
}

// set parses text as the value's own type.
func (s setting) set(text string) error {
	switch s.value.Kind() {
	case reflect.String:
		s.value.SetString(text)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return fmt.Errorf("%s: %s is neither true nor false", s.key, quote(text))
		}
		s.value.SetBool(b)
	default:
		n, err := strconv.ParseUint(text, 10, s.value.Type().Bits())
		if err != nil {
			return fmt.Errorf("%s: %s is not a whole number from 0 to %d", s.key, quote(text), uint64(math.MaxUint64)>>(64-s.value.Type().Bits()))
		}
		s.value.SetUint(n)
	}
	return nil
}

func (s setting) String() string {
	if s.secret {
		return ""
	}
	return fmt.Sprint(s.value.Interface())
}

// Keys returns the key and meaning of every value, in the order of the file.
func Keys() [][2]string {
	c := Default()
	var keys [][2]string
	for _, s := range settings(&c) {
		keys = append(keys, [2]string{s.key, s.doc})
	}
	return keys
}

// ApplyLimitsJSON sets values by the last part of their key, as the harness
// names them: {"max_query_topics": 50, "group_message_seconds": 5}. Names are
// those of the sections limits, retention and streams. Either all are applied
// or, with an error that names the first bad one, none.
func (c *Config) ApplyLimitsJSON(text string) error {
	var given map[string]json.Number
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&given); err != nil {
		return fmt.Errorf("limits: %w: want a JSON object of numbers by limit name", err)
	}
	if d.More() {
		return errors.New("limits: text follows the JSON object")
	}
	next := *c
	for _, s := range settings(&next) {
		section, name, _ := strings.Cut(s.key, ".")
		if section != "limits" && section != "retention" && section != "streams" {
			continue
		}
		if n, ok := given[name]; ok {
			if err := s.set(n.String()); err != nil {
				return err
			}
			delete(given, name)
		}
	}
	for name := range given {
		return fmt.Errorf("limits: %s is not the name of a limit, a retention or a stream interval", quote(name))
	}
	*c = next
	return nil
}

// ConfigFromLimitsJSON returns the defaults with some limits replaced.
func ConfigFromLimitsJSON(text string) (Config, error) {
	c := Default()
	err := c.ApplyLimitsJSON(text)
	return c, err
}

// quote makes what an operator typed safe and short enough to print.
func quote(s string) string {
	const most = 60
	if len(s) > most {
		return fmt.Sprintf("%q (cut)", s[:most])
	}
	return strconv.Quote(s)
}
