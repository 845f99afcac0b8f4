package examples

import (
	"encoding/json"
	"testing"
)

func TestDiffer(t *testing.T) {
	// Proves what an answer may have other than its example, and what not.
	t.Parallel()
	for _, c := range []struct {
		name, want, got string
		alike           bool
	}{
		{"further members and items", `{"a":[1]}`, `{"a":[1,2],"b":true}`, true},
		{"a member is missing", `{"a":1}`, `{"b":1}`, false},
		{"an item is missing", `[1,2]`, `[1]`, false},
		{"another whole number", `1`, `2`, false},
		{"a number of another kind", `{"n":0.5}`, `{"n":"0.5"}`, false},
		{"another fraction", `0.5`, `1`, true},
		{"another text", `"a"`, `"b"`, false},
		{"another identifier", `"job_1001"`, `"job_aB"`, true},
		{"an identifier of another kind", `"job_1001"`, `"key_1001"`, false},
		{"another time", `"2026-03-02T09:30:00Z"`, `"2026-03-02T09:30:00.123456Z"`, true},
		{"a time that is none", `"2026-03-02T09:30:00Z"`, `"today"`, false},
		{"a free member", `{"page_key":"x"}`, `{"page_key":"y"}`, true},
		{"a free member of another type", `{"page_key":"x"}`, `{"page_key":1}`, false},
		{"what stands for a text", `"at home"`, `"at work"`, true},
		{"null", `{"a":null}`, `{"a":0}`, false},
	} {
		var want, got any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(c.got), &got); err != nil {
			t.Fatal(err)
		}
		d := comparison{free: []string{"page_key"}, standIns: standIns{"home": "work"}}.differ("answer", want, got)
		if (d == "") != c.alike {
			t.Errorf("%s: %s shown for %s: alike is %t: %s", c.name, c.want, c.got, d == "", d)
		}
	}
}

func TestStandIns(t *testing.T) {
	// Proves that a name which a service has chosen is put in wherever a later request has that of the example.
	t.Parallel()
	c := comparison{standIns: standIns{"job_1": "job_x"}}
	if d := c.differ("answer", map[string]any{"id": "job_100"}, map[string]any{"id": "job_y"}); d != "" {
		t.Fatal(d)
	}
	if got := c.standIns.text("/jobs/job_100/of/job_1"); got != "/jobs/job_y/of/job_x" {
		t.Errorf("got %s", got)
	}
}
