package httpapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"quarry/internal/fault"
)

// TestErrorsHoldNoSecret proves that a refusal which repeats what was sent leaves out what has the form of a secret.
func TestErrorsHoldNoSecret(t *testing.T) {
	t.Parallel()
	const key = "zut_0aB9cD8eF7gH6iJ5kL4mN3oP2qR1sT0uVwXyZa"
	for _, f := range []*fault.Fault{
		fault.NotFound("corpus_not_found", key, "corpus %s does not exist", key),
		fault.InvalidField("body."+key, "must not be %s", key), fault.Conflict("taken", "%s is taken", key),
	} {
		w := httptest.NewRecorder()
		writeBody(w, http.StatusTeapot, bodyOf(w, "r", f))
		if strings.Contains(w.Body.String(), key[10:]) || !strings.Contains(w.Body.String(), "zut_****") {
			t.Errorf("the body is %s", w.Body)
		}
	}
}
