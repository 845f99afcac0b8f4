package refusal_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"quarry/internal/fault"
	"quarry/internal/httpapi/refusal"
)

// TestErrorsHoldNoSecret proves that a refusal which repeats what was sent leaves out what has the form of a secret.
func TestErrorsHoldNoSecret(t *testing.T) {
	t.Parallel()
	const key = "zut_0aB9cD8eF7gH6iJ5kL4mN3oP2qR1sT0uVwXyZa"
	for _, f := range []*fault.Fault{
		fault.NotFound("corpus_not_found", key, "corpus %s does not exist", key),
		fault.InvalidField("body."+key, "must not be %s", key), fault.Conflict("taken", "%s is taken", key),
	} {
		body, err := json.Marshal(refusal.Of(http.Header{}, "r", f).Redacted())
		if err != nil || strings.Contains(string(body), key[10:]) || !strings.Contains(string(body), "zut_****") {
			t.Errorf("the body is %s, %v", body, err)
		}
	}
}

// TestStatusOfOthers proves that the status of another service is passed on where a fault has it, with the word that such a status has
// here.
func TestStatusOfOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		have, want int
		word       string
	}{{418, 418, "UNAVAILABLE"}, {429, 429, "RESOURCE_EXHAUSTED"}, {500, 500, "INTERNAL"}, {0, 502, "UNAVAILABLE"}, {302, 502, "UNAVAILABLE"}} {
		if status, word := refusal.Status(fault.UpstreamStatus(c.have, "it failed")); status != c.want || word != c.word {
			t.Errorf("status %d: %d %s, want %d %s", c.have, status, word, c.want, c.word)
		}
	}
}
