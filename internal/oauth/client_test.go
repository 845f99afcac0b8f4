package oauth_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"quarry/internal/oauth"
	"quarry/internal/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// guarded returns the client with which tools call, for tests over loopback.
func guarded(t *testing.T) *http.Client {
	t.Helper()
	c := outbound.New(outbound.Config{AllowPrivate: true})
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// TestClientCredentials proves the requests of both ways to authenticate, that a token is fetched once for callers who come at
// once, and anew after it was refused, once.
func TestClientCredentials(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var asked []url.Values
	var basics []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		_ = r.ParseForm()
		asked, basics = append(asked, r.PostForm), append(basics, r.Header.Get("Authorization"))
		_, _ = fmt.Fprintf(w, `{"access_token":"token-%d","expires_in":"3600"}`, len(asked))
	}))
	t.Cleanup(server.Close)
	c := oauth.NewClient(guarded(t), nil)
	by := oauth.Credentials{Endpoint: server.URL, ClientID: "me:", ClientSecret: "s p", Scopes: []string{"a", "b"}}
	token := func(by oauth.Credentials, want string) {
		t.Helper()
		if got, err := c.Token(t.Context(), by); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() { token(by, "token-1") })
	}
	together.Wait()
	if d := cmp.Diff([]url.Values{{"grant_type": {"client_credentials"}, "scope": {"a b"}}}, asked); d != "" {
		t.Error(d)
	}
	if want := "Basic " + base64.StdEncoding.EncodeToString([]byte("me%3A:s+p")); basics[0] != want {
		t.Errorf("got %q, want %q", basics[0], want)
	}
	c.Refuse(t.Context(), by, "token-1")
	token(by, "token-2")
	c.Refuse(t.Context(), by, "token-1") // a late one
	token(by, "token-2")
	by.Method, by.Audience, by.Scopes = oauth.Post, "aud", nil
	token(by, "token-3")
	if d := cmp.Diff(url.Values{"grant_type": {"client_credentials"}, "audience": {"aud"}, "client_id": {"me:"}, "client_secret": {"s p"}}, asked[2]); d != "" || basics[2] != "" {
		t.Errorf("post: %s %q", d, basics[2])
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTokensEnd proves that a token is renewed a minute before its end, and one of a short life after nine tenths of it.
func TestTokensEnd(t *testing.T) {
	t.Parallel()
	for life, steps := range map[int][]int{600: {0, 1, 530, 1, 20, 2}, 10: {0, 1, 8, 1, 2, 2}, 0: {0, 1, 265, 1, 10, 2}} {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			c := oauth.NewClient(&http.Client{Transport: transport(func(*http.Request) (*http.Response, error) {
				n++
				body := fmt.Sprintf(`{"access_token":"abc","expires_in":%d}`, life)
				return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(body))}, nil
			})}, nil)
			for i := 0; i < len(steps); i += 2 {
				time.Sleep(time.Duration(steps[i]) * time.Second)
				if _, err := c.Token(t.Context(), oauth.Credentials{Endpoint: "http://h/"}); err != nil || n != steps[i+1] {
					t.Errorf("a life of %d s, step %d: %d tokens fetched, %v, want %d", life, i/2, n, err, steps[i+1])
				}
			}
		})
	}
}

// TestFailures proves what is said of an endpoint that doesn't grant a token, and that no secret is in it, though the endpoint
// repeats all that it was sent.
func TestFailures(t *testing.T) {
	t.Parallel()
	const secret, refresh = "client-secret-1", "refresh-token-1"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		echo := string(sent) + r.Header.Get("Authorization") + secret
		switch r.URL.Path {
		case "/500":
			w.WriteHeader(500)
			_, _ = io.WriteString(w, echo)
		case "/page":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<html>"+echo)
		case "/text":
			_, _ = io.WriteString(w, echo)
		case "/refused":
			w.WriteHeader(401)
			_, _ = fmt.Fprintf(w, `{"error":"invalid_client","error_description":%q}`, echo)
		case "/odd":
			w.WriteHeader(400)
			_, _ = fmt.Fprintf(w, `{"error":%q}`, secret)
		case "/none":
			_, _ = fmt.Fprintf(w, `{"refresh_token":%q}`, secret)
		case "/bad":
			_, _ = fmt.Fprintf(w, `{"access_token":"a\nb"}`)
		case "/large":
			_, _ = io.WriteString(w, `{"access_token":"`+strings.Repeat("x", 2<<20)+`"}`)
		case "/meta":
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusTemporaryRedirect)
		case "/found":
			http.Redirect(w, r, "/text", http.StatusFound)
		case "/cut":
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(server.Close)
	closed := httptest.NewServer(nil)
	closed.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	c := oauth.NewClient(guarded(t), nil)
	for endpoint, want := range map[string]string{
		server.URL + "/500":     "answered with status 500",
		server.URL + "/page":    "answered with a web page; is the address right?",
		server.URL + "/text":    "answered with something that is not JSON",
		server.URL + "/refused": "answered with status 401: invalid_client",
		server.URL + "/odd":     "answered with status 400",
		server.URL + "/none":    "answered without an access_token",
		server.URL + "/bad":     "answered without an access_token",
		server.URL + "/large":   "sent more than 1 MiB",
		server.URL + "/meta":    "can't be used: it redirects to another origin, http://169.254.169.254",
		server.URL + "/found":   "can't be used: it redirects in a way that loses what was sent",
		server.URL + "/cut":     "can't be reached: the connection broke before an answer came",
		closed.URL:              "can't be reached: ",
		"http://10.0.0.1:x/":    "must be an address",
		"file:///etc/passwd":    "must be an address",
	} {
		by := oauth.Credentials{Endpoint: endpoint, ClientID: "me", ClientSecret: secret, Method: oauth.Post}
		_, err := c.Token(t.Context(), by)
		var e *oauth.Error
		if !errors.As(err, &e) || !strings.HasPrefix(e.Text, want) || endpoint == server.URL+e.Host && e.Host != host {
			t.Errorf("%s: %v, want %q", endpoint, err, want)
		}
		if shown := fmt.Sprintf("%v %+v %#v %+v %#v", err, err, err, by, struct{ By oauth.Credentials }{by}); strings.Contains(shown, secret) || strings.Contains(shown, refresh) {
			t.Errorf("%s: a secret shows in %s", endpoint, shown)
		}
	}
	state := oauth.State{Refresh: refresh, Access: oauth.Token{Value: secret}}
	if shown := fmt.Sprintf("%v %+v %#v %v", state, state, state, state.Access); strings.Contains(shown, refresh) || strings.Contains(shown, secret) {
		t.Errorf("a secret shows in %s", shown)
	}
}

// TestCancelled proves that a caller who goes is let go at once, that the next one fetches, and that an endpoint which is silent
// ends as a failure.
func TestCancelled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		c := oauth.NewClient(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			if calls.Add(1) == 2 {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"access_token":"abc"}`))}, nil
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		})}, nil)
		by := oauth.Credentials{Endpoint: "http://h/"}
		gone := errors.New("gone")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(gone) })
		began := time.Now()
		if _, err := c.Token(ctx, by); !errors.Is(err, gone) || time.Since(began) != time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if token, err := c.Token(t.Context(), by); token != "abc" {
			t.Errorf("%q, %v", token, err)
		}
		c.Refuse(t.Context(), by, "abc")
		began = time.Now()
		if _, err := c.Token(t.Context(), by); err == nil || !strings.Contains(err.Error(), "has not answered within 30s") || time.Since(began) != 30*time.Second {
			t.Errorf("a silent endpoint: %v after %s", err, time.Since(began))
		}
	})
}

// TestElsewhere proves for both grants and both ways to authenticate that nothing of a token's request reaches the other origin to
// which its endpoint redirects, and that a redirect within the origin is followed with all that was sent.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		t.Errorf("another origin got %s %s %q", r.Method, r.URL, body)
	}))
	t.Cleanup(other.Close)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, to, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		switch code, _ := strconv.Atoi(status); {
		case code == 0:
			body, _ := io.ReadAll(r.Body)
			_, _ = fmt.Fprintf(w, `{"access_token":%q}`, strconv.Itoa(strings.Count(string(body), "grant_type")))
		case to == "here":
			http.Redirect(w, r, "/", code)
		default:
			http.Redirect(w, r, other.URL+"/?"+r.URL.RawQuery, code)
		}
	}))
	t.Cleanup(server.Close)
	c := oauth.NewClient(guarded(t), unrotated{})
	t.Cleanup(c.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, method := range []string{oauth.Basic, oauth.Post} {
			for _, refresh := range []string{"", "refresh-token"} {
				by := oauth.Credentials{Endpoint: fmt.Sprint(server.URL, "/", status), ClientID: "me", ClientSecret: "hush", Method: method, Refresh: refresh}
				var e *oauth.Error
				if _, err := c.Token(t.Context(), by); !errors.As(err, &e) || !strings.Contains(e.Text, "another origin") {
					t.Errorf("%d, %s, refresh %q: %v, want a refusal that says why", status, method, refresh, err)
				}
				by.Endpoint += "/here"
				if token, err := c.Token(t.Context(), by); status > 303 && token != "1" {
					t.Errorf("%d within the origin, %s, refresh %q: %q, %v", status, method, refresh, token, err)
				}
			}
		}
	}
}

// unrotated keeps no refresh tokens: no endpoint replaces one.
type unrotated struct{}

func (unrotated) Lock(context.Context, string, string, time.Time) (oauth.State, bool, error) {
	return oauth.State{}, true, nil
}
func (unrotated) Swap(context.Context, string, int64, oauth.State) (bool, error) { return true, nil }
func (unrotated) Unlock(context.Context, string, string) error                   { return nil }
