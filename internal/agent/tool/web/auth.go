package web

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/tool/reference"
	"quarry/internal/endpoint"
	"quarry/internal/fault"
	"quarry/internal/jsonvalue"
)

// Tokens gets access tokens by OAuth, and keeps them as long as they are good.
type Tokens interface {
	// Token returns an access token. One that was refused, "" for none, is not returned again. Errors are *tool.Failure, or that of ctx.
	Token(ctx context.Context, g Grant, refused string) (string, error)
}

// Grant is what an access token is got for.
type Grant struct {
	Endpoint     string
	ClientID     string
	ClientSecret string
	Refresh      string // "" for the grant of client credentials
	Scopes       []string
}

// The types of auth.
const (
	authNone    = "none"
	authBearer  = "bearer"
	authHeader  = "header"
	authClient  = "oauth_client_credentials"
	authRefresh = "oauth_refresh_token"
)

// needed are the members that each type of auth has to have.
var needed = map[string][]string{
	authNone: nil, authBearer: {"token"}, authHeader: {"header", "value"}, authClient: {"client_id", "client_secret", "token_endpoint"},
	authRefresh: {"client_id", "client_secret", "refresh_token", "token_endpoint"},
}

// auth is how a request is authorized.
type auth struct {
	Type          string   `json:"type"`
	Token         string   `json:"token"`
	Header        string   `json:"header"`
	Value         string   `json:"value"`
	ClientID      string   `json:"client_id"`
	ClientSecret  string   `json:"client_secret"`
	RefreshToken  string   `json:"refresh_token"`
	TokenEndpoint string   `json:"token_endpoint"`
	Scopes        []string `json:"scopes"`
}

// check returns what is wrong, nil where there is no auth.
func (a *auth) check() error {
	if a == nil {
		return nil
	}
	has := map[string]string{
		"token": a.Token, "header": a.Header, "value": a.Value, "client_id": a.ClientID, "client_secret": a.ClientSecret, "refresh_token": a.RefreshToken,
		"token_endpoint": a.TokenEndpoint,
	}
	for _, member := range needed[a.Type] {
		if has[member] == "" {
			return invalid("auth.%s: is required for auth of the type %s", member, a.Type)
		}
	}
	var err error
	switch a.Type {
	case authBearer:
		err = checkHeader("Authorization", a.Token)
	case authHeader:
		err = checkHeader(a.Header, a.Value)
	case authClient, authRefresh:
		err = checkURL(a.TokenEndpoint)
	}
	if err != nil {
		return invalid("auth: %s", err)
	}
	return nil
}

// credential returns the header that authorizes a request, "" for none, and the access token in it if there is one. A header of
// the same name in the arguments wins, so then nothing is fetched.
func (g *get) credential(ctx context.Context, args *request, refused string) (name, value, token string, err error) {
	a := args.Auth
	if a == nil {
		return "", "", "", nil
	}
	const authorization = "Authorization"
	switch a.Type {
	case authBearer:
		return authorization, "Bearer " + a.Token, "", nil
	case authHeader:
		return a.Header, a.Value, "", nil
	case authClient, authRefresh:
		if _, given := args.Headers[authorization]; given {
			return "", "", "", nil
		}
		grant := Grant{Endpoint: a.TokenEndpoint, ClientID: a.ClientID, ClientSecret: a.ClientSecret, Scopes: a.Scopes}
		if a.Type == authRefresh {
			grant.Refresh, grant.Scopes = a.RefreshToken, nil
		}
		token, err := g.tokens.Token(ctx, grant, refused)
		return authorization, "Bearer " + token, token, err
	}
	return "", "", "", nil
}

// credentials are the members of auth that are secrets.
var credentials = []string{"token", "value", "client_secret", "refresh_token"}

// masked is what is wrong with a credential that was read and sent back.
const masked = "is " + mask.Masked + ", which reads show in place of a credential; write the credential itself, or better a reference to a secret"

// read reads a configuration, and returns the secrets that stand in it as they are. Package tool holds arguments to the schema;
// here is checked what that doesn't know.
func (g *get) read(configuration json.RawMessage) (secrets []string, err error) {
	var c struct {
		Override map[string]json.RawMessage `json:"argument_override"`
		Settings json.RawMessage            `json:"tool_configuration"`
		Input    string                     `json:"input_transform"`
		Seconds  *int64                     `json:"max_execution_time_seconds"`
	}
	if json.Unmarshal(configuration, &c) != nil {
		return nil, nil // package tool says why
	}
	_, g.insecure = c.Override["ssl_verify"]
	_, g.held = c.Override["body"]
	g.held = g.held || c.Input != ""
	g.limited = c.Seconds != nil
	f := fault.Invalid()
	if len(c.Settings) > 0 && string(c.Settings) != "null" {
		f.Field("tool_configuration", "is nothing that %s takes", Get)
	}
	pinned := map[string]any{}
	for key, raw := range c.Override {
		pinned[key] = jsonvalue.Decode(raw)
	}
	const field = "argument_override"
	if text, ok := pinned["url"].(string); ok && c.Input == "" {
		if err := checkURL(text); err != nil {
			f.Field(fault.Join(field, "url"), "%s", err)
		}
	}
	_, all := pinned["headers"] // the model's are gone then
	g.host = func(header string) bool {
		_, one := pinned["headers."+header]
		return all || one
	}
	for name, header := range members(pinned, "headers") {
		value, _ := header.(string) // a reference is none
		if err := checkHeader(name, value); err != nil {
			f.Field(fault.Join(field, "headers."+name), "%s", err)
		}
		if endpoint.Carries(name) && value == mask.Masked {
			f.Field(fault.Join(field, "headers."+name), "%s", masked)
		}
		if endpoint.Carries(name) {
			secrets = append(secrets, value, value[strings.LastIndex(value, " ")+1:]) // also without its scheme
		}
	}
	_, whole := pinned["auth"].(map[string]any)
	given := members(pinned, "auth")
	checkAuth(given, whole && c.Input == "", fault.Join(field, "auth"), f)
	for _, name := range credentials {
		value, _ := given[name].(string)
		secrets = append(secrets, value)
	}
	return slices.DeleteFunc(secrets, func(s string) bool { return s == "" }), f.Err()
}

// members returns the members of an argument that are pinned: with the whole of it, or each by a key of its own.
func members(pinned map[string]any, argument string) map[string]any {
	out := map[string]any{}
	if whole, ok := pinned[argument].(map[string]any); ok {
		if _, is, _ := reference.Of(whole); !is {
			maps.Copy(out, whole)
		}
	}
	for key, v := range pinned {
		if name, ok := strings.CutPrefix(key, argument+"."); ok {
			out[name] = v
		}
	}
	return out
}

// checkAuth adds to f what is wrong with the members of auth that are pinned. If the whole of it is, nothing may be missing.
func checkAuth(given map[string]any, whole bool, field string, f *fault.Fault) {
	const example = "https://login.example.com/token"
	place := fault.Join(field, "token_endpoint")
	switch at := given["token_endpoint"].(type) {
	case nil:
	case string:
		endpoint.CheckURI(at, place, example, f)
	default:
		f.Field(place, "must be an address such as %s; credentials can be references, where they are sent can't", example)
	}
	for _, member := range credentials {
		_, text := given[member].(string)
		if _, refers, _ := reference.Of(given[member]); given[member] != nil && !text && !refers {
			f.Field(fault.Join(field, member), `must be a text or a reference, as in {"$ref": "session.secrets.token"}`)
		}
		if given[member] == mask.Masked {
			f.Field(fault.Join(field, member), "%s", masked)
		}
	}
	kind, literal := given["type"].(string)
	if required, known := needed[kind]; literal && !known {
		f.Field(fault.Join(field, "type"), "must be one of %s", strings.Join(slices.Sorted(maps.Keys(needed)), ", "))
	} else if literal && whole {
		for _, member := range required {
			if v := given[member]; v == nil || v == "" {
				f.Field(fault.Join(field, member), "is required for auth of the type %s", kind)
			}
		}
	}
	if name, ok := given["header"].(string); ok {
		if err := checkHeader(name, ""); err != nil {
			f.Field(fault.Join(field, "header"), "%s", err)
		}
	}
}
