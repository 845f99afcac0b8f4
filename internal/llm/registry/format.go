package registry

import (
	"regexp"
	"slices"

	"quarry/internal/llm"
)

// format is what the registry knows of a wire format. The adapter that speaks it is in the table of provider/dial.
type format struct {
	name                Type
	needsURI, needsAuth bool
	auth                []string          // kinds of credentials that it takes
	home                map[string]string // the address where a registration names none, by the kind of its credentials
	unnamed             llm.Abilities     // of models whose names say nothing
	list                string            // formats with the same list of models are served side by side
	address             *regexp.Regexp    // addresses that likely speak it, in lower case; nil for none
}

// remote are the kinds of credentials that any HTTP service may ask for.
var remote = []string{Bearer, Header, ClientCredentials}

// anthropicURI is where the models of Anthropic are called that no cloud hosts (contract: LLMs, 2.2).
const anthropicURI = "https://api.anthropic.com/v1/messages"

// formats are the wire formats, in the order in which an address is asked whether it speaks them.
var formats = []format{
	{
		name: OpenAI, needsURI: true, auth: remote, list: "openai",
		unnamed: llm.Abilities{Tools: true, Context: 8_192},
	},
	{
		name: Responses, needsURI: true, auth: remote, list: "openai", address: regexp.MustCompile(`/responses/*$`),
		unnamed: llm.Abilities{Images: true, Tools: true, Structured: true, Context: 128_000},
	},
	{
		name: Anthropic, needsAuth: true, list: "anthropic", address: regexp.MustCompile(`anthropic|/messages$`),
		auth:    []string{Bearer, Header, BedrockStaticIAM, BedrockAPIKey, VertexServiceAccount, VertexAccessToken},
		home:    map[string]string{Bearer: anthropicURI, Header: anthropicURI}, // the clouds' follow from region and project
		unnamed: llm.Abilities{Images: true, Tools: true, Structured: true, Context: 200_000},
	},
	{
		name: Vertex, needsURI: true, needsAuth: true, auth: []string{APIKey, ServiceAccount}, list: "gemini",
		address: regexp.MustCompile(`googleapis\.com|generatecontent`),
		unnamed: llm.Abilities{Images: true, Tools: true, Structured: true, Context: 32_760},
	},
}

// find returns the format of a type.
func (t Type) find() (format, bool) {
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == t })
	if i < 0 {
		return format{}, false
	}
	return formats[i], true
}

// Known reports whether there is such a wire format.
func (t Type) Known() bool { _, ok := t.find(); return ok }

// takes reports whether connections of the format may have these credentials, nil for none.
func (f *format) takes(auth *Auth) bool {
	if auth == nil {
		return !f.needsAuth
	}
	return slices.Contains(f.auth, auth.Type)
}
