package anthropic

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
	"quarry/internal/provider/aws"
)

// host is where a model is served.
type host int

// The hosts: Anthropic's own API and whatever speaks it; Amazon Bedrock; Google Vertex.
const (
	direct host = iota
	bedrock
	vertex
)

// Endpoints are the addresses of the clouds. Tests set them; the zero value stands for the real ones.
type Endpoints struct {
	Bedrock, Vertex string // in the place of https://bedrock-runtime.<region>.amazonaws.com and https://<region>-aiplatform.googleapis.com
}

// defaultURI is where the API is (contract: chats-llms-and-evaluation, section 2.2).
const defaultURI = "https://api.anthropic.com/v1/messages"

// version is the version of the API that callers state, by host.
var version = map[host]string{direct: "2023-06-01", bedrock: "bedrock-2023-05-31", vertex: "vertex-2023-10-16"}

// hostOf returns the host that credentials are for.
func hostOf(a *registry.Auth) host {
	if a != nil {
		switch a.Type {
		case registry.BedrockAPIKey, registry.BedrockStaticIAM:
			return bedrock
		case registry.VertexAccessToken, registry.VertexServiceAccount:
			return vertex
		}
	}
	return direct
}

// address returns the URL of the host for a connection.
func (e Endpoints) address(c registry.Connection) (string, error) {
	switch hostOf(c.Auth) {
	case bedrock:
		if err := named(c.Auth.Region, "region"); err != nil {
			return "", err
		}
		base := cmp.Or(e.Bedrock, "https://bedrock-runtime."+c.Auth.Region+".amazonaws.com")
		if strings.HasPrefix(c.Auth.Region, "cn-") && e.Bedrock == "" {
			base += ".cn"
		}
		return base + "/model/" + aws.Escape(c.Model) + "/invoke-with-response-stream", nil
	case vertex:
		if err := named(c.Auth.Region, "region"); err != nil {
			return "", err
		}
		if err := named(c.Auth.Project, "project"); err != nil {
			return "", err
		}
		return cmp.Or(e.Vertex, vertexBase(c.Auth.Region)) + "/v1/projects/" + c.Auth.Project + "/locations/" + c.Auth.Region +
			"/publishers/anthropic/models/" + url.PathEscape(c.Model) + ":streamRawPredict", nil
	}
	u, err := provider.ParseURI(cmp.Or(c.URI, defaultURI))
	if err != nil {
		return "", err
	}
	return messagesURL(u), nil
}

// vertexBase returns the server of a region: its own, that of a continent, or the global one.
func vertexBase(region string) string {
	switch region {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu":
		return "https://aiplatform." + region + ".rep.googleapis.com"
	}
	return "https://" + region + "-aiplatform.googleapis.com"
}

// named refuses regions and projects that would change more of an address than the name in it.
func named(name, member string) error {
	bad := func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (member == "region" || !strings.ContainsRune("_:.", r) && (r < 'A' || r > 'Z'))
	}
	if name == "" || len(name) > 100 || strings.ContainsFunc(name, bad) || strings.Trim(name, ".") == "" {
		return fault.InvalidField("auth."+member, "is no name of a %s", member)
	}
	return nil
}

// messagesURL returns the endpoint of an address, which may be a base: …, …/v1 and …/v1/messages mean the same.
func messagesURL(u *url.URL) string {
	v := *u
	path := strings.TrimRight(v.Path, "/")
	switch {
	case strings.HasSuffix(path, "/messages"):
	case strings.HasSuffix(path, "/v1"):
		path += "/messages"
	case path == "":
		path = "/v1/messages"
	}
	v.Path, v.RawPath = path, ""
	return v.String()
}

// hostRequest returns body and headers of a request in the form of the host.
func hostRequest(q request, c registry.Connection) (body, http.Header) {
	b, header := body{}, http.Header{}
	maps.Copy(b, q.body)
	switch h := hostOf(c.Auth); h {
	case direct:
		b["model"], b["stream"] = c.Model, true
		header.Set("Anthropic-Version", version[h])
	case bedrock:
		b["anthropic_version"] = version[h]
		if betas := headerOf(c.Headers, "anthropic-beta"); betas != "" {
			b["anthropic_beta"] = strings.FieldsFunc(betas, func(r rune) bool { return r == ',' || r == ' ' })
		}
	case vertex:
		b["anthropic_version"], b["stream"] = version[h], true
	}
	return b, header
}

func headerOf(headers map[string]string, name string) string {
	for k, v := range headers {
		if strings.EqualFold(k, name) {
			return v
		}
	}
	return ""
}

// chunk is the payload of a message of Bedrock's stream: an event, in base64.
type chunk struct {
	Bytes []byte `json:"bytes"`
}

// frame handles a message of Bedrock's stream; those of unknown types are ignored.
func (r *reader) frame(f aws.Frame) error {
	switch kind := f.Headers[":message-type"]; {
	case kind == "event" && f.Headers[":event-type"] == "chunk":
		var c chunk
		if err := json.Unmarshal(f.Payload, &c); err != nil {
			return r.resp.BadEvent(err)
		}
		return r.feed(c.Bytes)
	case kind == "exception":
		return r.resp.Reported(exception(f.Headers[":exception-type"], provider.Message(f.Payload)))
	case kind == "error":
		return r.resp.Reported(exception(f.Headers[":error-code"], f.Headers[":error-message"]))
	}
	return nil
}

// exception returns an error of Bedrock's stream in the form of the API.
func exception(kind, text string) []byte {
	raw, _ := json.Marshal(map[string]any{"error": map[string]string{"type": kind, "message": cmp.Or(text, kind)}})
	return raw
}
