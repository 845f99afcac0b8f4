package guide

import "testing"

// TestCompare proves which differences between a page and the output count.
func TestCompare(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, shown, got string
		json, same       bool
	}{
		{"the same text", "1. a  (0.778)\n", "1. a (0.778)\n", false, true},
		{"another score", "1. a  (0.778)\n", "1. a  (0.781)\n", false, true},
		{"a far score", "1. a  (0.778)\n", "1. a  (0.800)\n", false, false},
		{"another document", "1. a  (0.778)\n", "1. b  (0.778)\n", false, false},
		{"a line more", "1. a\n", "1. a\n2. b\n", false, false},
		{"anything", "job job_… done\n", "job job_77 done\n", false, true},
		{"anything at the beginning", "… done\n", "77 done\n", false, true},
		{"an excerpt", `{"a":[{"b":1},"…"]}`, `{"a":[{"b":1,"c":2},{"b":3}],"d":4}`, true, true},
		{"a list with one item more", `{"a":[1]}`, `{"a":[1,2]}`, true, false},
		{"another integer", `{"a":1}`, `{"a":2}`, true, false},
		{"another score in JSON", `{"a":0.51}`, `{"a":0.515}`, true, true},
		{"a far score in JSON", `{"a":0.51}`, `{"a":0.55}`, true, false},
		{"a missing member", `{"a":1,"b":2}`, `{"a":1}`, true, false},
		{"the beginning of a text", `{"a":"job_…"}`, `{"a":"job_1"}`, true, true},
		{"another beginning", `{"a":"job_…"}`, `{"a":"crp_1"}`, true, false},
	} {
		err := Example{Shown: tc.shown, JSON: tc.json}.Compare(tc.got)
		if (err == nil) != tc.same {
			t.Errorf("%s: %v, want the same: %t", tc.name, err, tc.same)
		}
	}
}

// TestExamples proves that output belongs to the shell block before it, which blocks are not run and which are files, and that
// a block out of place is an error.
func TestExamples(t *testing.T) {
	t.Parallel()
	all, err := Examples("Text.\n\n```sh\na\n```\n\n```\nout\n```\n\n```sh\nb\n```\n\nText.\n\n```sh\nc\n```\n```json\n{}\n```\n")
	if err != nil || len(all) != 3 || all[0].Shown != "out\n" || all[1].Shown != "" || !all[2].JSON || all[2].Line != 17 {
		t.Errorf("%+v %v", all, err)
	}
	all, err = Examples("```sh syntax-only\nsudo a\n```\n```\nout\n```\n\n```python ask.py\nb\n```\n\n```nginx\nc\n```\n")
	if err != nil || len(all) != 2 || !all[0].Unrun || all[0].Shown != "out\n" || all[1].File != "ask.py" || all[1].Text != "b\n" {
		t.Errorf("%+v %v", all, err)
	}
	for _, bad := range []string{"```rust\na\n```\n", "```python\na\n```\n```\nout\n```\n", "```\nout\n```\n", "```sh\nopen\n", "```sh\na\n```\nText.\n```\nout\n```\n"} {
		if all, err := Examples(bad); err == nil {
			t.Errorf("%q gives %+v, want an error", bad, all)
		}
	}
}
