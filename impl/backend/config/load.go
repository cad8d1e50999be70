package config

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/pflag"
)

// EnvironmentPrefix begins every environment variable that is a setting: the
// key in capitals, dots as underscores, as in ASSAY_LIMITS_MAX_QUERY_TOPICS.
const EnvironmentPrefix = "ASSAY_"

// Flags are the command-line flags of a backend. Register them with [Bind],
// parse, and hand them to [Load].
type Flags struct {
	set    *pflag.FlagSet
	file   string
	limits string
	keep   uint32
	chain  string
	number uint64
}

// Bind adds the flags to set: one for each key, and four shorter ones.
func Bind(set *pflag.FlagSet) *Flags {
	f := &Flags{set: set}
	set.StringVar(&f.file, "config", "", "read the configuration from this TOML `FILE`")
	set.StringVar(&f.limits, "limits", "", "limits, retention and intervals by name, as a `JSON` object")
	set.Uint32Var(&f.keep, "keepalive-ms", 0, "shorter spelling of --streams.keepalive_interval_ms")
	set.StringVar(&f.chain, "chain", "", "route the chain of --chain-id to the RPC at this `URL`; empty for no chain")
	set.Uint64Var(&f.number, "chain-id", 0, "the `NUMBER` of the chain behind --chain")
	set.String("listen", "", "shorter spelling of --server.listen")
	set.String("database-url", "", "shorter spelling of --database.url")
	c := Default()
	for _, s := range settings(&c) {
		set.String(s.key, s.String(), s.doc)
	}
	return f
}

// Load puts the layers together: defaults, then the file, then the environment,
// then flags. lookup is os.LookupEnv, or a map in a test. Last, every string
// "env:NAME" becomes the value of that variable.
func (f *Flags) Load(lookup func(string) (string, bool)) (Config, error) {
	c := Default()
	if f.file != "" {
		if err := c.readFile(f.file); err != nil {
			return Config{}, err
		}
	}
	for _, s := range settings(&c) {
		name := EnvironmentPrefix + strings.ToUpper(strings.ReplaceAll(s.key, ".", "_"))
		if text, ok := lookup(name); ok {
			if err := s.set(text); err != nil {
				return Config{}, fmt.Errorf("environment variable %s: %w", name, err)
			}
		}
	}
	if f.limits != "" {
		if err := c.ApplyLimitsJSON(f.limits); err != nil {
			return Config{}, fmt.Errorf("flag --limits: %w", err)
		}
	}
	if f.chain != "" {
		if f.number == 0 {
			return Config{}, errors.New("flag --chain names an RPC and no chain: give --chain-id too")
		}
		if c.Chains == nil {
			c.Chains = make(map[string]string)
		}
		c.Chains[fmt.Sprintf("eip155:%d", f.number)] = f.chain
	}
	if err := f.overlay(&c); err != nil {
		return Config{}, err
	}
	if err := c.resolve(lookup); err != nil {
		return Config{}, err
	}
	return c, c.Validate()
}

// overlay applies the flags that were given.
func (f *Flags) overlay(c *Config) error {
	short := map[string]string{"listen": "server.listen", "database-url": "database.url", "keepalive-ms": "streams.keepalive_interval_ms"}
	byKey := make(map[string]setting)
	for _, s := range settings(c) {
		byKey[s.key] = s
	}
	var first error
	f.set.Visit(func(flag *pflag.Flag) {
		key := flag.Name
		if long, ok := short[key]; ok {
			key = long
		}
		s, ok := byKey[key]
		if !ok || first != nil {
			return
		}
		if err := s.set(flag.Value.String()); err != nil {
			first = fmt.Errorf("flag --%s: %w", flag.Name, err)
		}
	})
	return first
}

func (c *Config) readFile(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	d := toml.NewDecoder(bytes.NewReader(content)).DisallowUnknownFields()
	err = d.Decode(c)
	if err == nil {
		return nil
	}
	if strict, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		line, _ := strict.Errors[0].Position()
		return fmt.Errorf("%s:%d: %s is not a key of the configuration", path, line, strings.Join(strict.Errors[0].Key(), "."))
	}
	if decode, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := decode.Position()
		return fmt.Errorf("%s:%d:%d: %s: %w", path, line, column, strings.Join(decode.Key(), "."), err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// resolve replaces "env:NAME" once; what a variable holds is taken as it is.
func (c *Config) resolve(lookup func(string) (string, bool)) error {
	replace := func(key, text string) (string, error) {
		name, ok := strings.CutPrefix(text, "env:")
		if !ok {
			return text, nil
		}
		value, ok := lookup(name)
		if !ok {
			return "", fmt.Errorf("%s: environment variable %s is not set", key, quote(name))
		}
		return value, nil
	}
	for _, s := range settings(c) {
		if s.value.Kind() != reflect.String {
			continue
		}
		text, err := replace(s.key, s.value.String())
		if err != nil {
			return err
		}
		s.value.SetString(text)
	}
	for name, url := range c.Chains {
		text, err := replace("chains."+quote(name), url)
		if err != nil {
			return err
		}
		c.Chains[name] = text
	}
	return nil
}
