package identity

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"quarry/internal/api"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/identity/authz"
	"quarry/internal/identity/token"
	"quarry/internal/opt"
)

// maxGrant bounds the body of a request for a token, in bytes.
const maxGrant = 64 << 10

// clientToken answers the client-credentials grant of RFC 6749, section 4.4: its errors are those of section 5.2, which
// package httpapi writes from the codes of faults.
func (a *Area) clientToken(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	given, err := readGrant(r)
	if err != nil {
		return err
	}
	clientID, secret, err := clientCredentials(r.Header.Values("Authorization"), given)
	if err != nil {
		return err
	}
	c.Named = map[string]string{"client_id": clientID}
	switch grant := given["grant_type"]; {
	case grant == "":
		return badGrant("invalid_request", "body.grant_type", "is required: send client_credentials")
	case grant != clientType:
		return badGrant("unsupported_grant_type", "body.grant_type", "must be client_credentials, the only grant of this service")
	case given["scope"] != "":
		return badGrant("invalid_scope", "body.scope", "must be left out or empty: what a client may do stands in its roles")
	}
	if err := a.Accounts.LogInClient(r.Context(), clientID, secret); err != nil {
		return err
	}
	made, seconds, err := a.Tokens.Issue(r.Context(), token.Holder{Kind: authz.AppClient, ID: clientID})
	if err != nil {
		return err
	}
	w.Header().Set("Pragma", "no-cache") // RFC 6749, 5.1; no-store is everywhere
	return httpapi.WriteJSON(w, http.StatusOK, api.OAuthTokenResponse{AccessToken: made, TokenType: "Bearer", ExpiresIn: seconds})
}

// badGrant returns a fault with an error code of RFC 6749.
func badGrant(code, field, format string, args ...any) error {
	f := fault.InvalidField(field, format, args...)
	f.Code = code
	return f
}

// readGrant reads the members of a token request, which may be JSON or a form on either path.
func readGrant(r *http.Request) (map[string]string, error) {
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, fault.MediaType("the content encoding %q is not supported; send the body as it is", e)
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxGrant+1))
	if err != nil {
		return nil, fault.InvalidField("body", "could not be read to its end").Because(err)
	}
	if len(raw) > maxGrant {
		return nil, fault.TooLarge("a request for a token is at most %d bytes", maxGrant)
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isJSON := kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json")
	switch trimmed := bytes.TrimSpace(raw); {
	case len(trimmed) == 0:
		return map[string]string{}, nil
	case isJSON || err != nil && trimmed[0] == '{':
		return grantOfJSON(raw)
	case kind == "application/x-www-form-urlencoded" || err != nil:
		return grantOfForm(string(raw))
	}
	return nil, fault.MediaType("the content type %q is not supported here; send application/x-www-form-urlencoded or application/json", kind)
}

// grantMembers are the members that are read; RFC 6749 requires others to be ignored.
var grantMembers = []string{"client_id", "client_secret", "grant_type", "scope"}

func grantOfJSON(raw []byte) (map[string]string, error) {
	if err := httpapi.CheckJSON(raw, "body"); err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fault.InvalidField("body", "must be a JSON object")
	}
	out := map[string]string{}
	for _, name := range grantMembers {
		if len(all[name]) == 0 || string(all[name]) == "null" {
			continue
		}
		var v string
		if err := json.Unmarshal(all[name], &v); err != nil {
			return nil, fault.InvalidField("body."+name, "must be a string")
		}
		out[name] = v
	}
	return out, nil
}

func grantOfForm(raw string) (map[string]string, error) {
	form, err := url.ParseQuery(raw)
	if err != nil {
		return nil, fault.InvalidField("body", "is not a valid form") // the parser's text would repeat some of it
	}
	out := map[string]string{}
	for _, name := range grantMembers {
		switch v := form[name]; {
		case len(v) > 1:
			return nil, fault.InvalidField("body."+name, "is given twice")
		case len(v) == 1 && !plain(v[0]):
			return nil, fault.InvalidField("body."+name, "must be valid UTF-8 without the character NUL")
		case len(v) == 1:
			out[name] = v[0]
		}
	}
	return out, nil
}

func plain(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// clientCredentials returns the id and secret of the client from HTTP Basic, whose two parts are form-encoded (RFC 6749,
// 2.3.1), or from the body; a secret in both is a fault. Other schemes of authorization are ignored, as clients send an
// expired token along with the request for a new one.
func clientCredentials(header []string, given map[string]string) (clientID, secret string, err error) {
	clientID, secret = given["client_id"], given["client_secret"]
	if len(header) > 1 {
		return "", "", badGrant("invalid_request", "header.Authorization", "came more than once")
	}
	if len(header) == 1 {
		id, password, ok, err := basic(header[0])
		switch {
		case err != nil:
			return "", "", err
		case ok && secret != "":
			return "", "", badGrant("invalid_request", "body.client_secret", "must be left out beside the header Authorization: one way of showing a secret is enough")
		case ok && clientID != "" && clientID != id:
			return "", "", badGrant("invalid_request", "body.client_id", "differs from the one in the header Authorization")
		case ok:
			clientID, secret = id, password
		}
	}
	switch {
	case clientID == "":
		return "", "", badGrant("invalid_request", "body.client_id", "is required, here or by HTTP Basic")
	case secret == "":
		return "", "", badGrant("invalid_request", "body.client_secret", "is required, here or by HTTP Basic")
	}
	return clientID, secret, nil
}

// basic reads a header of HTTP Basic; ok is false for one of another scheme.
func basic(header string) (id, password string, ok bool, err error) {
	if scheme, _, _ := strings.Cut(strings.TrimSpace(header), " "); !strings.EqualFold(scheme, "Basic") {
		return "", "", false, nil
	}
	wrong := badGrant("invalid_request", "header.Authorization", "is not valid HTTP Basic")
	id, password, ok = (&http.Request{Header: http.Header{"Authorization": {strings.TrimSpace(header)}}}).BasicAuth()
	if !ok {
		return "", "", false, wrong
	}
	for _, part := range []*string{&id, &password} {
		decoded, err := url.QueryUnescape(*part)
		if err != nil || !plain(decoded) {
			return "", "", false, wrong
		}
		*part = decoded
	}
	return id, password, true, nil
}

func (a *Area) keySet(w http.ResponseWriter, r *http.Request, _ *httpapi.Call) error {
	set, err := a.Tokens.Published(r.Context())
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, set)
}

func (a *Area) rotateSigningKeys(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	made, err := a.Tokens.Rotate(r.Context())
	if err != nil {
		return err
	}
	c.Named = map[string]string{"kid": made.ID}
	return httpapi.WriteJSON(w, http.StatusOK, api.SigningKeyRotation{Kid: made.ID, CreatedAt: &made.Created})
}

func (a *Area) rotateSecretKeys(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	p, err := a.Secrets.Rotate(r.Context())
	if err != nil {
		return err
	}
	c.Named = map[string]string{"key_id": p.Key}
	return httpapi.WriteJSON(w, http.StatusOK, api.SecretKeyRotation{
		KeyId: p.Key, Resealed: int64(p.Resealed), Remaining: int64(p.Remaining), Done: p.Done, Advice: opt.NonZero(p.Advice),
	})
}
