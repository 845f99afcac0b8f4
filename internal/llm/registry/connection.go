package registry

import (
	"time"

	"quarry/internal/llm"
)

// Type is a wire format.
type Type string

// The wire formats (contract: chats-llms-and-evaluation, section 2.2).
const (
	OpenAI    Type = "openai-compatible"
	Responses Type = "openai-responses"
	Vertex    Type = "vertex-ai"
	Anthropic Type = "anthropic"
)

// The kinds of credentials.
const (
	Bearer               = "bearer"
	Header               = "header"
	ClientCredentials    = "oauth_client_credentials"
	APIKey               = "api_key"
	ServiceAccount       = "service_account"
	BedrockStaticIAM     = "bedrock_static_iam"
	BedrockAPIKey        = "bedrock_api_key"
	VertexServiceAccount = "vertex_service_account"
	VertexAccessToken    = "vertex_access_token"
)

// Auth is the credentials of a connection: Type says which members count. It is sealed at rest and never logged.
type Auth struct {
	Type string `json:"type"`

	Token string `json:"token,omitempty"` // bearer; secret

	Header string `json:"header,omitempty"` // header
	Value  string `json:"value,omitempty"`  // header; secret

	ClientID         string   `json:"client_id,omitempty"` // oauth_client_credentials
	ClientSecret     string   `json:"client_secret,omitempty"`
	TokenEndpoint    string   `json:"token_endpoint,omitempty"`
	Scopes           []string `json:"scopes,omitempty"`
	ClientAuthMethod string   `json:"client_auth_method,omitempty"` // "client_secret_basic" (also "") or "client_secret_post"
	Audience         string   `json:"audience,omitempty"`

	APIKey  string `json:"api_key,omitempty"`  // api_key, bedrock_api_key; secret
	KeyJSON string `json:"key_json,omitempty"` // service_account, vertex_service_account; secret

	AWSAccessKeyID     string `json:"aws_access_key_id,omitempty"` // bedrock_static_iam
	AWSSecretAccessKey string `json:"aws_secret_access_key,omitempty"`
	Region             string `json:"region,omitempty"` // bedrock_*, vertex_*

	AccessToken string `json:"access_token,omitempty"` // vertex_access_token; secret
	Project     string `json:"project,omitempty"`      // vertex_*
}

// Secrets lists what must not be passed on: the values that a provider may echo.
func (a *Auth) Secrets() []string {
	if a == nil {
		return nil
	}
	var out []string
	for _, s := range []string{a.Token, a.Value, a.ClientSecret, a.APIKey, a.KeyJSON, a.AWSSecretAccessKey, a.AccessToken} {
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Capabilities are what a model can do; nil members are inferred from its type and name.
type Capabilities struct {
	ImageSupport            *bool
	ContextLimit            *int // tokens, at least MinContext
	ToolCalling             *bool
	StructuredOutputs       *bool
	RequiresRoleAlternation *bool
}

// DefaultIdle is the longest silence tolerated where a registration does not say.
const DefaultIdle = time.Minute

// Connection is all that an adapter needs to call a model.
type Connection struct {
	Name    string // registered, for messages
	Type    Type
	Model   string
	URI     string
	Auth    *Auth
	Headers map[string]string
	Idle    time.Duration // the longest silence tolerated before and between events
}

// Dialer opens the provider of a connection; it does not call it. Faults name what is wrong with the connection, such
// as "auth.type".
type Dialer interface {
	Open(c Connection) (llm.Provider, error)
}
