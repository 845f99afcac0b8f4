package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quarry/internal/config"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/token"
)

// TestSignInHours proves that the setting bounds how long a sign-in is renewed, that a token which ends with the sign-in
// says so, and that a shorter setting refuses tokens given out before it with what to do. It stands in the package, since
// no one outside can issue the token of a sign-in of yesterday.
func TestSignInHours(t *testing.T) {
	t.Parallel()
	cfg := config.Default()
	cfg.Data, cfg.Listen = t.TempDir(), ""
	open := func(hours int64) *App {
		t.Helper()
		cfg.SignInHours = hours
		a, err := Open(t.Context(), cfg, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	call := func(a *App, method, path, token string) (int, map[string]any) {
		r := httptest.NewRequest(method, path, nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, r)
		var answer map[string]any
		_ = json.Unmarshal(w.Body.Bytes(), &answer) // without a body it has no members
		return w.Code, answer
	}
	a := open(24)
	owner, err := a.identity.accounts.UserByName(t.Context(), "owner")
	if err != nil {
		t.Fatal(err)
	}
	issue := func(ago time.Duration) string {
		t.Helper()
		out, _, err := a.identity.tokens.Issue(context.WithoutCancel(t.Context()), token.Holder{Kind: authz.User, ID: string(owner.ID), SignedIn: time.Now().Add(-ago)})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	early, late := issue(11*time.Hour+50*time.Minute), issue(12*time.Hour+10*time.Minute)
	for _, token := range []string{early, late} {
		if status, got := call(a, "POST", "/v2/sign_in/renew", token); status != http.StatusOK || got["expires_in"] != 1800.0 {
			t.Errorf("with 24 hours: %d %v", status, got)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}

	a = open(12)
	defer a.Close()
	status, got := call(a, "POST", "/v2/sign_in/renew", early)
	seconds, _ := got["expires_in"].(float64)
	if status != http.StatusOK || seconds > 600 || seconds < 500 {
		t.Fatalf("ten minutes before the end: %d %v", status, got)
	}
	renewed, _ := got["access_token"].(string)
	status, got = call(a, "GET", "/v2/caller", renewed)
	expires, err := time.Parse(time.RFC3339, got["expires_at"].(string))
	if left := time.Until(expires); status != http.StatusOK || err != nil || left > 10*time.Minute || left < 8*time.Minute {
		t.Errorf("the last token: %d %v, %s left", status, err, left)
	}
	for _, path := range []string{"/v2/sign_in/renew", "/v2/sign_in/codes", "/v2/sign_out"} {
		status, got = call(a, "POST", path, late)
		messages, _ := json.Marshal(got["messages"])
		if status != http.StatusUnauthorized || !strings.Contains(string(messages), "sign in again") {
			t.Errorf("%s after the end: %d %v", path, status, got)
		}
	}
}
