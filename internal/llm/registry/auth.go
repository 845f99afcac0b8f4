package registry

import (
	"regexp"
	"slices"
	"strings"

	"quarry/internal/endpoint"
	"quarry/internal/fault"
)

// Mask takes the place of a secret.
const Mask = "****"

// member is one of the members that a kind of credentials has.
type member struct {
	name   string
	secret bool
	form   *regexp.Regexp // of the whole value; nil for any visible text
	want   string         // describes the form
}

// place matches a project, which becomes part of a path.
var place = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9:._-]{0,99}$`)

const placeForm = "must be 1 to 100 letters, digits, dots, colons, _ and -"

// hostLabel matches a region, which becomes part of a host name.
var hostLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,48}[a-z0-9])?$`)

var (
	secret    = func(name string) member { return member{name: name, secret: true} }
	region    = member{name: "region", form: hostLabel, want: "must be a region, such as us-east-1: small letters, digits and -"}
	project   = member{name: "project", form: place, want: placeForm}
	variables = map[string][]member{
		Bearer:               {secret("token")},
		Header:               {{name: "header"}, secret("value")},
		ClientCredentials:    {{name: "client_id"}, secret("client_secret"), {name: "token_endpoint"}},
		APIKey:               {secret("api_key")},
		ServiceAccount:       {secret("key_json")},
		BedrockStaticIAM:     {{name: "aws_access_key_id"}, secret("aws_secret_access_key"), region},
		BedrockAPIKey:        {secret("api_key"), region},
		VertexServiceAccount: {secret("key_json"), project, region},
		VertexAccessToken:    {secret("access_token"), project, region},
	}
)

// members returns the places of the members by name.
func (a *Auth) members() map[string]*string {
	return map[string]*string{
		"token": &a.Token, "header": &a.Header, "value": &a.Value, "client_id": &a.ClientID, "client_secret": &a.ClientSecret,
		"token_endpoint": &a.TokenEndpoint, "api_key": &a.APIKey, "key_json": &a.KeyJSON,
		"aws_access_key_id": &a.AWSAccessKeyID, "aws_secret_access_key": &a.AWSSecretAccessKey, "region": &a.Region,
		"access_token": &a.AccessToken, "project": &a.Project,
	}
}

// only returns the credentials with only the members of their kind.
func (a *Auth) only() *Auth {
	if a == nil {
		return nil
	}
	out := &Auth{Type: a.Type}
	from, to := a.members(), out.members()
	for _, m := range variables[a.Type] {
		*to[m.name] = *from[m.name]
	}
	if a.Type == ClientCredentials {
		out.Scopes, out.ClientAuthMethod, out.Audience = slices.Clone(a.Scopes), a.ClientAuthMethod, a.Audience
	}
	return out
}

// masked returns the credentials with a mask in place of every secret.
func (a *Auth) masked() *Auth {
	if a == nil {
		return nil
	}
	out := a.only()
	at := out.members()
	for _, m := range variables[out.Type] {
		if m.secret {
			*at[m.name] = Mask
		}
	}
	return out
}

// longest bounds a member of credentials, in bytes. Keys of service accounts are the longest, at about 2,400.
const longest = 20_000

// check adds what is wrong with the credentials for their kind.
func (a *Auth) check(bad *fault.Fault) {
	all, ok := variables[a.Type]
	if !ok {
		bad.Field("auth.type", "%q is no kind of credentials", a.Type)
		return
	}
	at := a.members()
	for _, m := range all {
		v, field := *at[m.name], "auth."+m.name
		switch {
		case v == "":
			bad.Field(field, "must not be empty")
		case len(v) > longest:
			bad.Field(field, "must be at most %d bytes long", longest)
		case m.secret && strings.Trim(v, "*") == "":
			bad.Field(field, "is the mask that reads show instead of the secret; leave auth out to keep the credentials as they are, or send the secret itself")
		case m.name != "key_json" && !endpoint.Visible(v):
			bad.Field(field, "must be printable ASCII characters, without line breaks")
		case m.form != nil && !m.form.MatchString(v):
			bad.Field(field, "%s", m.want)
		}
	}
	switch a.Type {
	case Header:
		checkCredentialHeader(a.Header, "auth.header", bad)
	case ClientCredentials:
		a.checkClient(bad)
	}
}

func (a *Auth) checkClient(bad *fault.Fault) {
	if a.TokenEndpoint != "" {
		checkURI(a.TokenEndpoint, "auth.token_endpoint", bad)
	}
	switch a.ClientAuthMethod {
	case "", "client_secret_basic", "client_secret_post":
	default:
		bad.Field("auth.client_auth_method", "must be client_secret_basic or client_secret_post, not %q", a.ClientAuthMethod)
	}
	for _, s := range a.Scopes {
		if s == "" || strings.ContainsRune(s, ' ') || !endpoint.Visible(s) {
			bad.Field("auth.scopes", "holds %q, which is no scope: printable ASCII characters without blanks", s)
		}
	}
	if !endpoint.Visible(a.Audience) {
		bad.Field("auth.audience", "must be printable ASCII characters, without line breaks")
	}
}
