package subject

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// hostile are values that a careless substitution would split, expand or run.
func hostile() []string {
	return []string{
		"plain", "", "two words", " edges ", "tab\tand\nnew\nlines\n.", `single ' quote`, `double " quote`, `'; echo pwned; '`,
		"$(echo pwned)", "`echo pwned`", "$HOME ${HOME} $$", `back \ slash \`, "* ? [a-z] ~", "{listen} {database} {{limits}}", "a;b&c|d>e<f(g)h#i!j",
		"postgres://u:p%40ss@h:5/db?sslmode=disable&x=$(id)", "\x01\x1b[31m\x7f", "ünïcödé ✓", "\xff\xfe", "-n", "%s%n", `{"a":"b c"}`,
	}
}

func TestAValueArrivesUnchangedWhereverThePlaceholderStands(t *testing.T) {
	for _, c := range []struct{ name, shell, before, after string }{
		{"bare", `printf %s {listen}`, "", ""},
		{"in an assignment", `X={listen} sh -c 'printf %s "$X"'`, "", ""},
		{"glued to other text", `printf %s --listen={listen}/x`, "--listen=", "/x"},
		{"in double quotes", `printf %s "--listen={listen} x"`, "--listen=", " x"},
		{"in single quotes", `printf %s 'it is {listen} x'`, "it is ", " x"},
		{"in a command substitution", `printf '%s' "$(printf %s {listen}; echo .)"`, "", "."},
		{"in a quoted command substitution with quotes of its own", `printf '%s' "$(printf %s "{listen}"; echo .)"`, "", "."},
		{"in a subshell", `( printf %s {listen} )`, "", ""},
		{"after an escaped quote", `printf %s \'{listen}\"`, "'", `"`},
		{"after a comment with an apostrophe", "# don't\nprintf %s {listen}", "", ""},
		{"after a hash inside a word", "printf %s it#{listen}", "it#", ""},
		{"beside the shell's own braces", `x=1; { printf %s "${x}"{listen}; }`, "1", ""},
		{"beside a literal in braces", `printf %s '{{listen}}='{listen}`, "{listen}=", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl, err := parseTemplate(c.shell, []string{"listen"})
			if err != nil {
				t.Fatal(err)
			}
			for _, value := range hostile() {
				env, err := tmpl.environment(func(string) (string, error) { return value, nil })
				if err != nil {
					t.Fatal(err)
				}
				run := exec.Command("sh", "-c", tmpl.script)
				run.Env = append(os.Environ(), env...)
				out, err := run.CombinedOutput()
				if want := c.before + value + c.after; err != nil || string(out) != want {
					t.Errorf("%q became %q (%v)\n  template %s\n  script   %s", want, out, err, c.shell, tmpl.script)
				}
			}
		})
	}
}

func TestAValueIsNeverRunWhereTheQuotingIsMisread(t *testing.T) {
	// Contexts that the reader of quotes does not know: the text may come out
	// wrong, but $() and quotes in it must stay text.
	for _, shell := range []string{
		"cat <<END\nit's {listen}\nEND",
		"cat <<'END'\n{listen}\nEND",
		`echo "$(case x in x) echo {listen};; esac)"`,
		`echo "${x:-{listen}}"`,
		"echo `echo \"{listen}\"`",
		`echo $(( 1 )) "it's {listen}"`,
	} {
		tmpl, err := parseTemplate(shell, []string{"listen"})
		if err != nil {
			t.Fatal(err)
		}
		marker := t.TempDir() + "/run"
		for _, value := range []string{"$(touch " + marker + ")", "`touch " + marker + "`", "'; touch " + marker + "; '", `"; touch ` + marker + `; "`, ";touch " + marker} {
			env, err := tmpl.environment(func(string) (string, error) { return value, nil })
			if err != nil {
				t.Fatal(err)
			}
			run := exec.Command("sh", "-c", tmpl.script)
			run.Env = append(os.Environ(), env...)
			out, _ := run.CombinedOutput() // a syntax error is the user's to see
			if _, err := os.Stat(marker); err == nil {
				t.Fatalf("value %q was run by %s\n%s", value, tmpl.script, out)
			}
		}
	}
}

func TestAPlaceholderIsToldFromTheShellsBraces(t *testing.T) {
	for _, c := range []struct {
		name, shell string
		uses        []string
		err         string
	}{
		{"a known placeholder is used", "x {listen} {database} {listen}", []string{"database", "listen"}, ""},
		{"a parameter expansion is the shell's", "x ${listen} ${database:-y}", nil, ""},
		{"a brace list, a range, a group and JSON are the shell's", `x {a,b} {0..9} {} { y; } '{"k":1}' {Listen}`, nil, ""},
		{"a placeholder inside JSON is used", `x '{"l":{listen}}'`, []string{"listen"}, ""},
		{"doubled braces are literal", "x {{listen}} {{anything}}", nil, ""},
		{"an escaped brace is literal", `x \{listen\}`, nil, ""},
		{"an unknown placeholder is named with its place and the known ones", "x {listen} {lisen}", nil, "unknown placeholder {lisen} at byte 12 of the command; known are {listen} {database}; write {{lisen}} for a literal {lisen}"},
		{"an empty command is refused", " \n", nil, "the command is empty"},
		{"a NUL byte is refused", "x\x00", nil, "NUL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl, err := parseTemplate(c.shell, []string{"listen", "database"})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, expected %q", err, c.err)
				}
				return
			}
			if err != nil || strings.Join(tmpl.names, " ") != strings.Join(c.uses, " ") {
				t.Errorf("uses %v (%v), expected %v", tmpl.names, err, c.uses)
			}
		})
	}
}

func FuzzTemplatesAreReadWithoutPanic(f *testing.F) {
	for _, seed := range []string{"x {listen}", `"$({listen})"`, "'{listen}", "`{listen}", "# {listen}", `\`, "${listen", "{{listen}}", "{listen}{nope}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, shell string) {
		tmpl, err := parseTemplate(shell, []string{"listen"})
		if err == nil && tmpl.uses("listen") && !strings.Contains(tmpl.script, "${ASSAY_PLACE_LISTEN}") {
			t.Errorf("%q uses {listen}, but its script does not: %q", shell, tmpl.script)
		}
	})
}
