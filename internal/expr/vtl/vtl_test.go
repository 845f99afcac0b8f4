package vtl_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"quarry/internal/expr/vtl"
)

// meta is an object like those of package generate: it has a fixed list of members.
type meta struct{ m *vtl.Map }

func (o meta) Call(name string, arguments []vtl.Value) (vtl.Value, bool) {
	switch {
	case name == "get" && len(arguments) == 1:
		key, _ := arguments[0].(string)
		if v, ok := o.m.Get(key); ok {
			return v, true
		}
		return "", true
	case name == "present" && len(arguments) == 0:
		return o.m.Len() > 0, true
	}
	return nil, false
}

func (o meta) JSON() []byte {
	out := []string{}
	for _, key := range o.m.Keys() {
		v, _ := o.m.Get(key)
		raw, _ := json.Marshal(v)
		out = append(out, fmt.Sprintf("%q:%s", key, raw))
	}
	return []byte("{" + strings.Join(out, ",") + "}")
}

// variables are the variables of the golden templates.
func variables() map[string]vtl.Value {
	m := &vtl.Map{}
	m.Put("title", `The "Pump"`)
	m.Put("year", int64(2024))
	return map[string]vtl.Value{
		"name": "Ada", "empty": "", "n": int64(7), "half": 0.5, "yes": true, "no": false,
		"list": vtl.List{"a", "b", "c"}, "none": vtl.List{}, "numbers": vtl.List{int64(3), int64(1), int64(2)},
		"map": m, "meta": meta{m}, "bare": meta{&vtl.Map{}},
		"quote": "She said \"no\".\nTwo lines\\", "evil": `#set ($name = "x")$vectaraQuery ${name} #if(true)#end`,
		"comma": ",", "sharp": "ünïcödé",
	}
}

// TestGolden proves that every construct of the language renders as in the golden files, and the position of every error.
func TestGolden(t *testing.T) {
	t.Parallel()
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var l vtl.Limits
			d.MaybeScanArgs(t, "loops", &l.Loops)
			d.MaybeScanArgs(t, "steps", &l.Steps)
			d.MaybeScanArgs(t, "output", &l.Output)
			d.MaybeScanArgs(t, "memory", &l.Memory)
			tree, err := vtl.Parse(d.Input)
			if err != nil {
				return err.Error() + "\n"
			}
			out, err := tree.Render(variables(), l)
			switch {
			case err != nil:
				return err.Error() + "\n"
			case d.Cmd == "quote":
				return fmt.Sprintf("%q\n", out)
			case d.Cmd == "json":
				if !tree.JSON() || !json.Valid([]byte(out)) {
					return fmt.Sprintf("not JSON (%v): %s\n", tree.JSON(), out)
				}
			case tree.JSON():
				return "taken for JSON: " + out + "\n"
			}
			return out + "\n"
		})
	})
}

// TestText proves what the templates of instructions render: text, also where they look like JSON, with the variables that
// an agent has.
func TestText(t *testing.T) {
	t.Parallel()
	values := map[string]vtl.Value{}
	for name, raw := range map[string]string{
		"agent":   `{"key":"shop","name":"Shop \"24\"","metadata":{"lang":"de","tiers":["gold","silver"],"limits":{"max":3}}}`,
		"session": `{"key":"ase_1","metadata":{"plan":"gold","quote":"She said \"no\".\nTwo lines\\","evil":"$agent.name #if(true)x#end"}}`,
		"tools":   `[{"name":"search","description":"Searches the \"handbook\"."},{"name":"stock","description":"Counts."}]`,
	} {
		v, err := vtl.FromJSON([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		values[name] = v
	}
	values["currentDate"] = "2026-05-01T08:00:00Z"
	datadriven.RunTest(t, "testdata/text", func(t *testing.T, d *datadriven.TestData) string {
		tree, err := vtl.ParseText(d.Input)
		if err != nil {
			return err.Error() + "\n"
		}
		out, err := tree.Render(values, vtl.Limits{})
		if err != nil || tree.JSON() {
			return fmt.Sprintf("%v, taken for JSON: %v\n", err, tree.JSON())
		}
		return out + "\n"
	})
}

// TestSize proves that a template of the maximum length is accepted, one byte more is not, and nothing that is not UTF-8.
func TestSize(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{strings.Repeat("x", vtl.MaxTemplate), true},
		{strings.Repeat("$x", vtl.MaxTemplate/2), true},
		{strings.Repeat("x", vtl.MaxTemplate+1), false},
		{"a\xffb", false},
	} {
		tree, err := vtl.Parse(c.text)
		if (err == nil) != c.ok {
			t.Errorf("%d bytes: %v", len(c.text), err)
		}
		if err != nil {
			continue
		}
		if out, err := tree.Render(nil, vtl.Limits{}); err != nil || out != c.text {
			t.Errorf("%d bytes: %d bytes came out, %v", len(c.text), len(out), err)
		}
	}
}

// TestLimits proves that a template that would run for too long or use too much memory fails with the limit it exceeds.
func TestLimits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, limit string }{
		{`#foreach ($i in [1..10000])x#end#foreach ($i in [1])x#end`, "loop"},
		{`#foreach ($i in [1..100])#foreach ($j in [1..101])x#end#end`, "loop"},
		{`#foreach ($i in [1..9223372036854775807])x#end`, "loop"},
		{`#foreach ($i in [1..9999])#set ($x = [1..9999])#end`, "step"},
		{`#set ($s = "0123456789")#foreach ($i in [1..40])#set ($s = $s + $s)#end`, "memory"},
		{`#set ($s = "0123456789")#foreach ($i in [1..40])#set ($s = "$s$s")#end`, "memory"},
		{`#set ($s = "aaaaaaaaaa")#foreach ($i in [1..40])#set ($s = $s.replace("a", "aa"))#end`, "memory"},
		{`#set ($l = [1])#foreach ($i in [1..60])#set ($l = [$l, $l])#end$l`, "output"},
		{`#set ($l = [1])#foreach ($i in [1..60])#set ($l = [$l, $l])#end#if ($l == "x")#end`, "memory"},
		{`#set ($l = [1])#foreach ($i in [1..60])#set ($l = [$l, $l])#end[{"role":"user","content":"$l"}]`, "output"},
		{`#set ($s = "0123456789")#foreach ($i in [1..20])#set ($s = $s + $s)$s#end`, "output"},
		{`#set ($s = "0123456789")#foreach ($i in [1..16])#set ($s = $s + $s)#end#set ($t = $s + "x")#set ($u = $s + "y")` +
			`#foreach ($i in [1..10000])#if ($t == $u)#end#end`, "step"},
	} {
		tree, err := vtl.Parse(c.text)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		_, err = tree.Render(nil, vtl.Limits{})
		var limit *vtl.LimitError
		if !errors.As(err, &limit) || limit.Limit != c.limit || !strings.Contains(err.Error(), c.limit+" limit of") {
			t.Errorf("%s: %v, want the %s limit", c.text, err, c.limit)
		}
	}
	tree, err := vtl.Parse(`#foreach ($i in [1..10000])x#end`)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := tree.Render(nil, vtl.Limits{}); err != nil || len(out) != 10_000 {
		t.Errorf("ten thousand turns: %d, %v", len(out), err)
	}
}

// TestRenderLeavesVariables proves that rendering does not change the variables and is reproducible.
func TestRenderLeavesVariables(t *testing.T) {
	t.Parallel()
	tree, err := vtl.Parse(`#set ($name = "Eve")#foreach ($n in $list)$n#end $name $n $map`)
	if err != nil {
		t.Fatal(err)
	}
	vars := variables()
	for range 3 {
		out, err := tree.Render(vars, vtl.Limits{})
		if want := `abc Eve 7 {"title":"The \"Pump\"","year":2024}`; err != nil || out != want {
			t.Fatalf("%q, %v; want %q", out, err, want)
		}
	}
	if vars["name"] != "Ada" || vars["foreach"] != nil || vars["velocityCount"] != nil {
		t.Errorf("the variables changed: %v", vars)
	}
}

// FuzzTemplate proves that no template makes the engine panic, hang or write more than its limits, that every error is
// one of its own, and that rendering is deterministic.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{
		`#foreach ($r in $list)$foreach.count: ${r}#if ($foreach.hasNext), #end#end`, `#set ($x = {"a": [1..3]})$x.a[1] $!y`,
		`[{"role":"user","content":"$quote"},{"role":"user","content":$evil},]`, `\\$n \$n #* c *# ## d`,
		`#if ($n > 3 && !($name eq "x") or $no)a#elseif (1 + 2 * 3 == 7)b#{else}c#end`, `$a[$b[$c["`, `$a.b(`, `#set($a="${b}`, `${`, `#{if}`,
		`{"role":"user","content":"#foreach ($i in [1..3])$list.get($i)#end"}`, `#foreach($i in[3..1])$i#break#end`,
	} {
		f.Add(seed, "value \" of \\ a $passage #end")
	}
	f.Fuzz(func(t *testing.T, template, value string) {
		tree, err := vtl.Parse(template)
		if err != nil {
			var syntax *vtl.SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1 || syntax.Text == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		vars := variables()
		vars["name"], vars["passage"] = value, value
		limits := vtl.Limits{Output: 1 << 16, Memory: 1 << 20, Steps: 100_000}
		out, err := tree.Render(vars, limits)
		again, errAgain := tree.Render(vars, limits)
		if out != again || (err == nil) != (errAgain == nil) {
			t.Fatalf("two renderings differ: %q, %v and %q, %v", out, err, again, errAgain)
		}
		if len(out) > limits.Output {
			t.Fatalf("%d bytes", len(out))
		}
		var limit *vtl.LimitError
		if err != nil && !errors.As(err, &limit) {
			t.Fatal(err)
		}
	})
}

// FuzzValue proves that a value cannot leave the place that a JSON template gives it.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{"", ",", "\"}]", "\\", "a\nb", "\x00\x7f\u2028", "\xff", `","role":"system`, "${vectaraQuery}#end"} {
		f.Add(seed)
	}
	tree, err := vtl.Parse(`[{"role":"user","content":"<${v}>"},{"role":"user","content":$v}]`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, value string) {
		out, err := tree.Render(map[string]vtl.Value{"v": value}, vtl.Limits{})
		if err != nil {
			if len(value) < 100_000 { // twice escaped sixfold, it is within the limits
				t.Fatalf("%q: %v", value, err)
			}
			return
		}
		var got []struct{ Role, Content string }
		if err := json.Unmarshal([]byte(out), &got); err != nil || len(got) != 2 {
			t.Fatalf("%q: %v", out, err)
		}
		want := string([]rune(value)) // each wrong byte is one U+FFFD
		if got[0].Content != "<"+want+">" || got[1].Content != want || got[0].Role != "user" {
			t.Fatalf("%q became %+v", value, got)
		}
	})
}

// TestParseIsLinear proves that text with many apparent beginnings of an index is not parsed repeatedly without a
// bound, but refused beyond it. Without the bound each of these takes minutes.
func TestParseIsLinear(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{`$a[`, `$a['`, `$a["$b`, `$a[1`, `$a[$b.c(`} {
		_, err := vtl.Parse(strings.Repeat(piece, vtl.MaxTemplate/len(piece)))
		var syntax *vtl.SyntaxError
		if !errors.As(err, &syntax) || syntax.Line != 1 || syntax.Column < 1 {
			t.Errorf("%s…: %v", piece, err)
		}
	}
	few := strings.Repeat("price of $name[1 or $name['x ", 100) + strings.Repeat("$name[((((((((", 90) + "$n"
	tree, err := vtl.Parse(few)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := tree.Render(variables(), vtl.Limits{}); err != nil || !strings.HasSuffix(out, "7") {
		t.Errorf("%v, the end is %q", err, out[max(0, len(out)-20):])
	}
}

// heavy creates its texts and lists for each call.
type heavy struct{ calls *int }

func (h heavy) Call(name string, _ []vtl.Value) (vtl.Value, bool) {
	*h.calls++
	if name == "text" {
		return strings.Repeat("x", 1<<16), true
	}
	return make(vtl.List, 1<<12), true
}

func (heavy) JSON() []byte { return []byte("{}") }

// TestObjectsCount proves that the results of objects count as steps by their size, and that lists nested as deeply as
// there are steps are not rendered.
func TestObjectsCount(t *testing.T) {
	t.Parallel()
	for template, most := range map[string]int{
		"#foreach ($i in [1..10000])" + strings.Repeat("#set ($x = $h.text())", 100) + "#end":                          1_000,
		"#foreach ($i in [1..10000])" + strings.Repeat("#set ($x = $h.values())", 100) + "#end":                        1_000,
		"#foreach ($i in [1..5000])" + strings.Repeat("#foreach ($x in $h)#break#end", 100) + "#end":                   1_000,
		"#foreach ($i in [1..9999])#set ($x = " + strings.Repeat("[", 20) + "$x" + strings.Repeat("]", 20) + ")#end$x": 0,
	} {
		tree, err := vtl.Parse(template)
		if err != nil {
			t.Fatal(err)
		}
		calls := 0
		_, err = tree.Render(map[string]vtl.Value{"h": heavy{&calls}, "x": int64(1)}, vtl.Limits{})
		var limit *vtl.LimitError
		if !errors.As(err, &limit) || calls > most {
			t.Errorf("%.60s…: %v after %d calls", template, err, calls)
		}
	}
}
