package httpapi_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/identity/authz"
	"quarry/internal/page"
)

// TestList proves that a list is named with the filters stated alone, and that its limit has a value where none is.
func TestList(t *testing.T) {
	t.Parallel()
	c := &httpapi.Call{Op: &api.Operation{ID: "listJobs"}, Principal: authz.Principal{Kind: authz.User, ID: "usr_1"}, Query: url.Values{"after": {"x"}, "state": {""}, "other": {"y"}}}
	want := page.Scope{Operation: "listJobs", Caller: "user usr_1", Filters: map[string]string{"after": "x"}}
	if diff := cmp.Diff(want, c.Scope("after", "state", "actor")); diff != "" {
		t.Error(diff)
	}
	if got := c.Limit(); got != httpapi.DefaultLimit {
		t.Errorf("no limit is %d", got)
	}
	c.Query.Set("limit", "7")
	if got := c.Limit(); got != 7 {
		t.Errorf("limit 7 is %d", got)
	}
}

// TestMatch proves that an item is listed if one of its texts matches, and that no filter is none.
func TestMatch(t *testing.T) {
	t.Parallel()
	texts := func(s *[]string) []string { return *s }
	if match, err := httpapi.Match(map[string]string{}, texts); match != nil || err != nil {
		t.Errorf("no filter: %v", err)
	}
	match, err := httpapi.Match(map[string]string{"filter": "^b"}, texts)
	if err != nil || !match(&[]string{"a", "bc"}) || match(&[]string{"a", "cb"}) || match(&[]string{}) {
		t.Errorf("^b: %v", err)
	}
	if _, err := httpapi.Match(map[string]string{"filter": "("}, texts); err == nil {
		t.Error("( is taken")
	}
	for _, is := range []bool{true, false} {
		if got := httpapi.Bool(map[string]string{"enabled": fmt.Sprint(is)}, "enabled"); got == nil || *got != is {
			t.Errorf("%v is %v", is, got)
		}
	}
	if httpapi.Bool(nil, "enabled") != nil {
		t.Error("what is not given is there")
	}
}

// TestPattern proves that no filter is no expression, and that one that can't be read is a fault of query.filter.
func TestPattern(t *testing.T) {
	t.Parallel()
	if match, err := httpapi.Pattern(""); match != nil || err != nil {
		t.Errorf("no filter is %v, %v", match, err)
	}
	if match, err := httpapi.Pattern("^a.c$"); err != nil || !match.MatchString("abc") {
		t.Errorf("^a.c$ is %v, %v", match, err)
	}
	_, err := httpapi.Pattern("a(")
	if f, ok := fault.As(err); !ok || f.Fields["query.filter"] != "is not a regular expression: missing closing ): `a(`" {
		t.Errorf("a( is %v", err)
	}
}
