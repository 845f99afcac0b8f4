package gemini

import (
	"net/url"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
	"quarry/internal/provider/google"
)

// googleHost is the host of Vertex, without the name of a region.
const googleHost = "aiplatform.googleapis.com"

// address returns the URL that streams a model's answer. It accepts what Google's documentation offers to copy: a base address
// or a full one of any model and method (contract: chats-llms-and-evaluation, section 2.2). The project of the key completes
// an address of Vertex that names none.
func address(c registry.Connection, key *google.Key) (string, error) {
	u, err := provider.ParseURI(c.URI)
	if err != nil {
		return "", err
	}
	if c.Model == "" || strings.Contains(c.Model, "..") || strings.ContainsAny(c.Model, "?#\\ ") {
		return "", fault.InvalidField("model", "is no name of a model")
	}
	base := strings.TrimRight(withoutModel(u.Path), "/")
	if host := u.Hostname(); host == googleHost || strings.HasSuffix(host, "-"+googleHost) || strings.HasSuffix(host, ".rep.googleapis.com") || strings.Contains(base, "/projects/") {
		base, err = vertexBase(host, base, c.Model, key)
	} else if base == "" {
		base = "/v1beta"
	}
	if err != nil {
		return "", err
	}
	out := url.URL{Scheme: u.Scheme, Host: u.Host, Path: base + "/" + resource(c.Model) + ":streamGenerateContent", RawQuery: "alt=sse"}
	return out.String(), nil
}

// withoutModel returns a path without those of the model and of the method.
func withoutModel(path string) string {
	for _, collection := range []string{"/models", "/tunedModels", "/endpoints"} {
		if at := strings.LastIndex(path, collection); at >= 0 && (len(path) == at+len(collection) || path[at+len(collection)] == '/') {
			return path[:at]
		}
	}
	if slash, colon := strings.LastIndexByte(path, '/'), strings.LastIndexByte(path, ':'); colon > slash {
		path = path[:colon]
	}
	return path
}

// vertexBase returns the path of an address of Vertex, completed up to the parent of the model's resource.
func vertexBase(host, base, model string, key *google.Key) (string, error) {
	base = strings.TrimSuffix(base, "/publishers/google")
	if base == "" {
		base = "/v1"
	}
	if !strings.Contains(base, "/projects/") && key != nil {
		if key.Project == "" {
			return "", fault.InvalidField("uri", "must name the project and its location, since the key file does not")
		}
		region := strings.TrimSuffix(strings.TrimSuffix(host, googleHost), "-")
		if region == "" {
			region = "global"
		}
		base += "/projects/" + key.Project + "/locations/" + region
	}
	if r := resource(model); strings.HasPrefix(r, "models/") {
		return base + "/publishers/google", nil
	} else if strings.HasPrefix(r, "projects/") {
		base, _, _ = strings.Cut(base, "/projects/")
	}
	return base, nil
}

// resource returns the path of a model below its base: a bare name stands for models/<name>.
func resource(model string) string {
	for _, collection := range []string{"models/", "tunedModels/", "endpoints/", "publishers/", "projects/"} {
		if strings.HasPrefix(model, collection) {
			return model
		}
	}
	return "models/" + model
}
