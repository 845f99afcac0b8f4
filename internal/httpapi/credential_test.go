package httpapi_test

import (
	"context"
	"io"
	"log/slog"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"quarry/internal/httpapi"
	"quarry/internal/identity/authz"
)

// TestHangingDatabase proves that a request whose credential can't be looked up in time is answered 503 with Retry-After,
// which is neither a verdict on the credential nor a wait without end.
func TestHangingDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, err := httpapi.New(httpapi.Config{
			Authenticate: func(ctx context.Context, _ httpapi.Credential) (authz.Principal, error) {
				<-ctx.Done()
				return authz.Principal{}, ctx.Err()
			},
			Areas: []httpapi.Area{area{"listCorpora": seen}}, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
			MaxJSON: 1 << 16, MaxUpload: 1 << 16, Ready: func() bool { return true },
		})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/v2/corpora", nil)
		r.Header.Set("X-Api-Key", ownerKey)
		w, began := httptest.NewRecorder(), time.Now()
		s.ServeHTTP(w, r)
		if took := time.Since(began); w.Code != 503 || w.Header().Get("Retry-After") != "5" || took != 10*time.Second {
			t.Errorf("%d after %v with Retry-After %q: %s", w.Code, took, w.Header().Get("Retry-After"), w.Body)
		}
	})
}
