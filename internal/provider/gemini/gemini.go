// Package gemini is the generateContent API of Google's Gemini, on AI Studio with a key and on Vertex with a service account.
// It completes addresses copied from the documentation, builds bodies and reads streams. Calls are made by package provider,
// tokens come from provider/google. provider/dial opens it for connections of type vertex-ai.
package gemini

import (
	"context"
	"errors"
	"strings"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
	"quarry/internal/provider/google"
)

// model is a model behind a connection. It is safe for concurrent use.
type model struct {
	client *provider.Client
	name   string
	url    string
}

// New returns the provider of a connection; it calls nobody. Faults name what is wrong with the connection.
func New(s *provider.Shared, c registry.Connection) (llm.Provider, error) {
	if c.Auth == nil {
		return nil, fault.InvalidField("auth", "is required for a model of type %q", c.Type)
	}
	client, key, err := dial(s, c)
	if err != nil {
		return nil, err
	}
	to, err := address(c, key)
	if err != nil {
		return nil, err
	}
	return &model{client: client, name: c.Model, url: to}, nil
}

// dial returns the client with the credentials of the connection; key is that of a service account, otherwise nil.
func dial(s *provider.Shared, c registry.Connection) (client *provider.Client, key *google.Key, err error) {
	switch a := c.Auth; {
	case a == nil:
		client, err = provider.NewClient(s, c, nil)
	case a.Type == registry.APIKey:
		if err := provider.CheckSecret("api_key", a.APIKey); err != nil {
			return nil, nil, err
		}
		client, err = provider.NewClient(s, c, provider.Static{"X-Goog-Api-Key": a.APIKey})
	case a.Type == registry.ServiceAccount:
		if key, err = google.Parse(a.KeyJSON); err == nil {
			client, err = key.Client(s, c)
		}
	default:
		return nil, nil, fault.InvalidField("auth.type", "%q is no way to authenticate with a model of type %q", a.Type, c.Type)
	}
	return client, key, err
}

// Stream implements llm.Provider. Schemas are sent unchanged; if they are refused, as by old models and some gateways, the call
// is made again with the schemas in Google's own terms, and later calls start with those.
func (m *model) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	own, known := m.client.Knows(refusal)
	if gen := parseGeneration(m.name); !known && gen > 0 && gen < schemas {
		own = true
	}
	answer, err := m.once(ctx, r, own, emit)
	if own || !refusedSchema(err) || r.Format == nil && len(r.Tools) == 0 {
		return answer, err
	}
	m.client.Learn(refusal, true)
	return m.once(ctx, r, true, emit)
}

// refusal is the fact to learn about a server.
const refusal = "JSON Schemas are refused"

// refusedSchema reports whether a call was refused for its schemas.
func refusedSchema(err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Failure != llm.Rejected || e.Status != 400 && e.Status != 422 || e.Begun {
		return false
	}
	return strings.Contains(strings.ToLower(e.Text), "schema")
}

func (m *model) once(ctx context.Context, r llm.Request, own bool, emit func(llm.Event) error) (llm.Answer, error) {
	q := build(r, m.name, own)
	b := m.client.NewBuilder(r, emit)
	resp, err := m.client.Do(ctx, provider.Call{URL: m.url, Body: q.body, Accept: provider.Stream})
	if err != nil {
		return b.Fail(err)
	}
	defer resp.Close()
	in := reader{b: b, resp: resp, model: m.name, form: r.Format != nil, asked: q.asked}
	if err := resp.Each(in.feed); err != nil {
		return b.Fail(err)
	}
	if err := in.finish(); err != nil {
		return b.Fail(err)
	}
	return b.Done()
}
