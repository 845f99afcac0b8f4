package token_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"quarry/internal/fault"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/token"
	"quarry/internal/identity/token/tokentest"
)

const installation = "urn:quarry:test"

// node returns a service over keys, as one node of an installation has it.
func node(t *testing.T, keys *tokentest.Memory) *token.Service {
	t.Helper()
	s := token.New(token.Config{Store: keys, Installation: installation})
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

func issue(t *testing.T, s *token.Service, h token.Holder) string {
	t.Helper()
	out, seconds, err := s.Issue(t.Context(), h)
	if err != nil || seconds != 1800 {
		t.Fatalf("Issue: %d seconds, %v", seconds, err)
	}
	return out
}

// private returns the key that signs now.
func private(t *testing.T, keys *tokentest.Memory) jose.JSONWebKey {
	t.Helper()
	kid, err := keys.Signing(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := keys.Private(t.Context(), kid)
	if err != nil {
		t.Fatal(err)
	}
	var k jose.JSONWebKey
	if err := k.UnmarshalJSON(plain); err != nil {
		t.Fatal(err)
	}
	return k
}

var client = token.Holder{Kind: authz.AppClient, ID: "client-1"}

// A token holds the claims of the contract and nothing about roles, and its check gives back whom it is for.
func TestIssueAndCheck(t *testing.T) {
	t.Parallel()
	keys := new(tokentest.Memory)
	s := node(t, keys)
	before := time.Now().Unix()
	out := issue(t, s, client)
	got, err := s.Check(t.Context(), out)
	if err != nil || got.Holder != client || got.Issued.Unix() < before {
		t.Fatalf("Check: %+v, %v", got, err)
	}
	if head := decode(t, out, 0); head["alg"] != "ES256" || head["typ"] != "JWT" || head["kid"] != private(t, keys).KeyID || len(head) != 3 {
		t.Errorf("header %v", head)
	}
	claims := decode(t, out, 1)
	iat, _ := claims["iat"].(float64)
	want := map[string]any{
		"iss": installation, "aud": installation, "sub": "client-1", "iat": iat, "nbf": iat, "exp": iat + 1800,
		"jti": claims["jti"], "customer_id": installation, "principal_type": "app_client",
	}
	if !maps.Equal(claims, want) || claims["jti"] == "" {
		t.Errorf("claims %v, want %v", claims, want)
	}
	again := decode(t, issue(t, s, client), 1)
	if again["jti"] == claims["jti"] {
		t.Error("two tokens have one jti")
	}
	person := token.Holder{Kind: authz.User, ID: "usr_1", Epoch: 1700000000000001, SignedIn: time.Now().UTC().Truncate(time.Second)}
	if got, err := s.Check(t.Context(), issue(t, s, person)); err != nil || got.Holder != person {
		t.Errorf("a person's token: %+v, %v", got, err)
	}
}

// A setting names the issuer, and tokens of another issuer or installation are refused although their keys are known.
func TestIssuer(t *testing.T) {
	t.Parallel()
	keys := new(tokentest.Memory)
	s := node(t, keys)
	for _, c := range []token.Config{
		{Store: keys, Installation: installation, Issuer: "https://search.example.org"},
		{Store: keys, Installation: "urn:quarry:other", Issuer: installation},
	} {
		other := token.New(c)
		out := issue(t, other, client)
		if _, err := other.Check(t.Context(), out); err != nil {
			t.Errorf("issuer %q: its own token: %v", c.Issuer, err)
		}
		if claims := decode(t, out, 1); claims["iss"] != c.Issuer || claims["aud"] != c.Installation {
			t.Errorf("claims %v", claims)
		}
		refused(t, s, out, "")
	}
}

// A token that is not whole, not ours or not valid now is refused, whichever way it was made.
func TestForged(t *testing.T) {
	t.Parallel()
	keys := new(tokentest.Memory)
	s := node(t, keys)
	good := issue(t, s, client)
	k := private(t, keys)
	parts := strings.Split(good, ".")
	foreign := ellipticKey(t)
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	head := func(more map[string]any) string {
		h := map[string]any{"alg": "ES256", "kid": k.KeyID, "typ": "JWT"}
		for name, v := range more {
			if v == nil {
				delete(h, name)
				continue
			}
			h[name] = v
		}
		return encode(t, h)
	}
	web := func(public any) map[string]any {
		raw, err := json.Marshal(jose.JSONWebKey{Key: public})
		if err != nil {
			t.Fatal(err)
		}
		var out map[string]any
		if err := json.Unmarshal(raw, &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	own := k.Key.(*ecdsa.PrivateKey)
	for name, forged := range map[string]string{
		"empty":                         "",
		"garbage":                       "garbage",
		"two dots":                      "..",
		"two dots and words":            "a.b.c",
		"four dots":                     good + ".a.b",
		"no signature":                  parts[0] + "." + parts[1] + ".",
		"no signature, no dot":          parts[0] + "." + parts[1],
		"alg none":                      head(map[string]any{"alg": "none"}) + "." + parts[1] + ".",
		"alg None with our signature":   head(map[string]any{"alg": "None"}) + "." + parts[1] + "." + parts[2],
		"alg empty":                     head(map[string]any{"alg": ""}) + "." + parts[1] + "." + parts[2],
		"alg missing":                   head(map[string]any{"alg": nil}) + "." + parts[1] + "." + parts[2],
		"alg es256":                     head(map[string]any{"alg": "es256"}) + "." + parts[1] + "." + parts[2],
		"alg ES384":                     sign384(t, head(map[string]any{"alg": "ES384"})+"."+parts[1]),
		"HS256 with the public key":     signHMAC(t, head(map[string]any{"alg": "HS256"})+"."+parts[1], publicBytes(t, own)),
		"HS256 with the published JSON": signHMAC(t, head(map[string]any{"alg": "HS256"})+"."+parts[1], published(t, s)),
		"RS256":                         signRSA(t, head(map[string]any{"alg": "RS256"})+"."+parts[1], rsaKey),
		"foreign key":                   sign(t, head(nil)+"."+parts[1], foreign),
		"unknown kid":                   sign(t, head(map[string]any{"kid": "0123456789abcdef"})+"."+parts[1], foreign),
		"kid of any length":             sign(t, head(map[string]any{"kid": "../../../dev/null"})+"."+parts[1], own),
		"kid missing":                   sign(t, head(map[string]any{"kid": nil})+"."+parts[1], own),
		"kid a number":                  sign(t, head(map[string]any{"kid": 7})+"."+parts[1], own),
		"jwk":                           sign(t, head(map[string]any{"jwk": web(foreign.Public())})+"."+parts[1], foreign),
		"jwk of ours":                   sign(t, head(map[string]any{"jwk": web(own.Public())})+"."+parts[1], own),
		"jku":                           sign(t, head(map[string]any{"jku": "http://127.0.0.1:1/keys"})+"."+parts[1], own),
		"x5u":                           sign(t, head(map[string]any{"x5u": "http://127.0.0.1:1/cert"})+"."+parts[1], own),
		"x5c":                           sign(t, head(map[string]any{"x5c": []string{"AA=="}})+"."+parts[1], own),
		"crit":                          sign(t, head(map[string]any{"crit": []string{"exp"}})+"."+parts[1], own),
		"crit b64":                      sign(t, head(map[string]any{"crit": []string{"b64"}, "b64": true})+"."+parts[1], own),
		"b64 false":                     sign(t, head(map[string]any{"crit": []string{"b64"}, "b64": false})+"."+parts[1], own),
		"zip":                           sign(t, head(map[string]any{"zip": "DEF"})+"."+parts[1], own),
		"nested":                        sign(t, head(map[string]any{"cty": "JWT"})+"."+parts[1], own),
		"other type":                    sign(t, head(map[string]any{"typ": "id+jwt"})+"."+parts[1], own),
		"alg twice":                     sign(t, text(`{"alg":"none","alg":"ES256","kid":"`+k.KeyID+`","typ":"JWT"}`)+"."+parts[1], own),
		"header and more":               sign(t, text(`{"alg":"ES256","kid":"`+k.KeyID+`","typ":"JWT"}{}`)+"."+parts[1], own),
		"header a list":                 sign(t, text(`[]`)+"."+parts[1], own),
		"changed payload":               parts[0] + "." + encode(t, changed(t, good, "sub", "client-2")) + "." + parts[2],
		"another's signature":           parts[0] + "." + parts[1] + "." + strings.Split(issue(t, s, token.Holder{Kind: authz.AppClient, ID: "client-2"}), ".")[2],
		"signature of zeros":            parts[0] + "." + parts[1] + "." + base64.RawURLEncoding.EncodeToString(make([]byte, 64)),
		"signature cut":                 good[:len(good)-4],
		"payload no JSON":               sign(t, head(nil)+"."+text("sub=client-1"), own),
		"JSON serialisation":            `{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`,
		"1 MB":                          parts[0] + "." + strings.Repeat("A", 1<<20) + "." + parts[2],
		"1 MB of dots":                  strings.Repeat(".", 1<<20),
		"line ends":                     parts[0] + ".\r\n" + parts[1] + "." + parts[2],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, s, forged, "")
		})
	}
}

// A right signature does not save a token whose claims are not those of a valid token of ours.
func TestClaims(t *testing.T) {
	t.Parallel()
	keys := new(tokentest.Memory)
	s := node(t, keys)
	good := issue(t, s, client)
	k := private(t, keys)
	now := time.Now().Unix()
	for name, c := range map[string]struct {
		member string
		value  any
		reason string
	}{
		"foreign issuer":   {"iss", "https://elsewhere.example", "issuer"},
		"no issuer":        {"iss", nil, "issuer"},
		"foreign audience": {"aud", "urn:quarry:other", "another service"},
		"no audience":      {"aud", nil, "another service"},
		"audience a list":  {"aud", []string{installation}, ""},
		"expired":          {"exp", now - 1, "expired"},
		"expires now":      {"exp", now, "expired"},
		"no expiry":        {"exp", nil, "expired"},
		"expiry a text":    {"exp", "tomorrow", ""},
		"expiry huge":      {"exp", 1e300, ""},
		"expiry far":       {"exp", now + 86400, "longer"},
		"not yet valid":    {"nbf", now + 600, "not valid yet"},
		"issued in future": {"iat", now + 600, "not valid yet"},
		"no subject":       {"sub", nil, "nobody"},
		"no type":          {"principal_type", nil, "nobody"},
		"type of key":      {"principal_type", "api_key", "nobody"},
		"unknown type":     {"principal_type", "owner", "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forged := sign(t, strings.Split(good, ".")[0]+"."+encode(t, changed(t, good, c.member, c.value)), k.Key.(*ecdsa.PrivateKey))
			refused(t, s, forged, c.reason)
		})
	}
}

// A token is valid for 30 minutes to the second and not longer, however it was asked for.
func TestLifetime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := node(t, new(tokentest.Memory))
		out := issue(t, s, client)
		time.Sleep(token.Lifetime - time.Second)
		if _, err := s.Check(t.Context(), out); err != nil {
			t.Errorf("one second before its end: %v", err)
		}
		time.Sleep(time.Second)
		refused(t, s, out, "expired")
	})
}

// Rotation logs nobody out: tokens of the old key stay valid until they expire, on every node; then its key is gone.
func TestRotate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys := new(tokentest.Memory)
		a, b := node(t, keys), node(t, keys)
		old := issue(t, a, client)
		accepted(t, b, old)
		made, err := a.Rotate(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		kid := made.ID
		for _, n := range []*token.Service{a, b} {
			fresh := issue(t, n, client)
			if got := decode(t, fresh, 0)["kid"]; got != kid {
				t.Errorf("signed with %v after rotation, want %s", got, kid)
			}
			accepted(t, a, fresh) // at once, also where another node rotated
			accepted(t, b, fresh)
			accepted(t, n, old)
		}
		if got := kids(t, a); len(got) != 2 || got[0] != kid {
			t.Errorf("published %v, want %s first of two", got, kid)
		}
		time.Sleep(token.Lifetime - time.Second)
		accepted(t, a, old)
		accepted(t, b, old)
		time.Sleep(2 * time.Minute)
		if got := kids(t, b); len(got) != 1 || got[0] != kid {
			t.Errorf("published %v, want %s alone", got, kid)
		}
		if _, err := b.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		all, err := keys.Keys(t.Context())
		if err != nil || len(all) != 2 {
			t.Errorf("%d keys are kept, %v; want the one that signs and the one before", len(all), err)
		}
	})
}

// A key that is published no more checks nothing, also on a node that knew it and was not told.
func TestRetiredKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys := new(tokentest.Memory)
		a, b := node(t, keys), node(t, keys)
		stolen := private(t, keys).Key.(*ecdsa.PrivateKey)
		old := issue(t, b, client)
		accepted(t, b, old)
		if _, err := a.Rotate(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(token.Lifetime + 2*time.Minute)
		claims := changed(t, old, "iat", time.Now().Unix())
		claims["exp"] = time.Now().Add(time.Minute).Unix()
		refused(t, b, sign(t, strings.Split(old, ".")[0]+"."+encode(t, claims), stolen), "key")
	})
}

// Rotating again and again is refused before it floods the key set, and possible again later.
func TestRotateOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := node(t, new(tokentest.Memory))
		var err error
		n := 0
		for ; err == nil && n < 100; n++ {
			_, err = s.Rotate(t.Context())
		}
		f, ok := fault.As(err)
		if !ok || f.Kind != fault.KindLimited || f.RetryAfter <= 0 || n != 16 {
			t.Fatalf("rotation %d: %v", n, err)
		}
		time.Sleep(f.RetryAfter)
		if _, err := s.Rotate(t.Context()); err != nil {
			t.Errorf("after the time given: %v", err)
		}
	})
}

// However many tokens with invented key ids come, the database is read at most ten times a second for them.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		keys := new(tokentest.Memory)
		s := node(t, keys)
		good := issue(t, s, client)
		accepted(t, s, good)
		forged := sign(t, encode(t, map[string]any{"alg": "ES256", "kid": "0123456789abcdef", "typ": "JWT"})+"."+strings.Split(good, ".")[1], ellipticKey(t))
		before, begun := keys.Reads(), time.Now()
		done := make(chan struct{})
		for range 50 {
			go func() {
				for range 20 {
					refused(t, s, forged, "key")
				}
				done <- struct{}{}
			}()
		}
		for range 50 {
			<-done
		}
		took := time.Since(begun)
		if got, most := keys.Reads()-before, int(took/(100*time.Millisecond))+2; got > most {
			t.Errorf("%d reads in %v for 1,000 tokens, want at most %d", got, took, most)
		}
		at := time.Now()
		accepted(t, s, good)
		if waited := time.Since(at); waited > 0 {
			t.Errorf("a good token waited %v", waited)
		}
	})
}

// A node that starts over an installation takes its key, and a failing store is an error and no verdict on the token.
func TestStore(t *testing.T) {
	t.Parallel()
	keys := new(tokentest.Memory)
	s := node(t, keys)
	kid := private(t, keys).KeyID
	good := issue(t, s, client)
	second := node(t, keys)
	if again := private(t, keys).KeyID; again != kid {
		t.Errorf("the second node signs with %s, want %s", again, kid)
	}
	broken := errors.New("disk on fire")
	keys.Fail(broken)
	if _, err := second.Check(t.Context(), good); !errors.Is(err, broken) {
		t.Errorf("Check on a broken store: %v", err)
	}
	if _, _, err := second.Issue(t.Context(), client); !errors.Is(err, broken) {
		t.Errorf("Issue on a broken store: %v", err)
	}
	keys.Fail(nil)
	accepted(t, second, good)
}

// The published set holds no private part.
func TestPublished(t *testing.T) {
	t.Parallel()
	s := node(t, new(tokentest.Memory))
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(published(t, s), &set); err != nil {
		t.Fatal(err)
	}
	for _, k := range set.Keys {
		if !k.IsPublic() || k.Algorithm != "ES256" || k.Use != "sig" {
			t.Errorf("key %s: public %v, alg %s, use %s", k.KeyID, k.IsPublic(), k.Algorithm, k.Use)
		}
	}
	if len(set.Keys) != 1 || strings.Contains(string(published(t, s)), `"d"`) {
		t.Errorf("published %s", published(t, s))
	}
}

// No text makes Check panic or pass, and its refusals do not repeat the token.
func FuzzCheck(f *testing.F) {
	keys := new(tokentest.Memory)
	s := token.New(token.Config{Store: keys, Installation: installation})
	if err := s.Prepare(f.Context()); err != nil {
		f.Fatal(err)
	}
	good, _, err := s.Issue(f.Context(), client)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{good, "", "..", "a.b.c", "eyJhbGciOiJub25lIn0..", good + ".", strings.Replace(good, ".", "..", 1)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := s.Check(t.Context(), text)
		if err == nil && c.Holder != client {
			t.Fatalf("%q passes as %+v", text, c)
		}
		if err != nil && len(text) > 20 && strings.Contains(err.Error(), text) {
			t.Fatalf("the refusal repeats the token: %v", err)
		}
	})
}

func accepted(t *testing.T, s *token.Service, out string) {
	t.Helper()
	if _, err := s.Check(t.Context(), out); err != nil {
		t.Errorf("Check: %v", err)
	}
}

func refused(t *testing.T, s *token.Service, forged, reason string) {
	t.Helper()
	c, err := s.Check(t.Context(), forged)
	var why *token.InvalidError
	if !errors.As(err, &why) || !strings.Contains(why.Reason, reason) || c != (token.Claims{}) {
		t.Errorf("Check: %+v, %v; want a refusal about %q", c, err, reason)
	}
}

func decode(t *testing.T, out string, part int) map[string]any {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(strings.Split(out, ".")[part])
	if err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// changed returns the claims of a token with one member replaced; nil removes it.
func changed(t *testing.T, out, member string, value any) map[string]any {
	t.Helper()
	c := decode(t, out, 1)
	for _, n := range []string{"iat", "nbf", "exp"} {
		c[n] = int64(c[n].(float64))
	}
	c[member] = value
	if value == nil {
		delete(c, member)
	}
	return c
}

func encode(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text(string(raw))
}

func text(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }

func ellipticKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// sign appends an ES256 signature, whatever the header says.
func sign(t *testing.T, input string, k *ecdsa.PrivateKey) string {
	t.Helper()
	sum := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	size := (k.Params().BitSize + 7) / 8
	raw := make([]byte, 2*size)
	r.FillBytes(raw[:size])
	s.FillBytes(raw[size:])
	return input + "." + base64.RawURLEncoding.EncodeToString(raw)
}

func sign384(t *testing.T, input string) string {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return sign(t, input, k)
}

func signHMAC(t *testing.T, input string, secret []byte) string {
	t.Helper()
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(input))
	return input + "." + base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func signRSA(t *testing.T, input string, k *rsa.PrivateKey) string {
	t.Helper()
	sum := sha256.Sum256([]byte(input))
	raw, err := rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + base64.RawURLEncoding.EncodeToString(raw)
}

func publicBytes(t *testing.T, k *ecdsa.PrivateKey) []byte {
	t.Helper()
	raw, err := k.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func published(t *testing.T, s *token.Service) []byte {
	t.Helper()
	raw, err := s.Published(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func kids(t *testing.T, s *token.Service) []string {
	t.Helper()
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(published(t, s), &set); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, k := range set.Keys {
		out = append(out, k.KeyID)
	}
	return out
}
