// Package anthropic is the Messages API, as served by Anthropic, Amazon Bedrock, Google Vertex and others. It builds bodies,
// reads streams, and asks for structured output in the way that the model accepts. Calls are made by package provider,
// signed by provider/aws or authorized by provider/google. provider/dial opens it for connections of type anthropic.
package anthropic

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"quarry/internal/fault"
	"quarry/internal/llm"
	"quarry/internal/llm/registry"
	"quarry/internal/provider"
	"quarry/internal/provider/aws"
	"quarry/internal/provider/google"
)

// model is a model behind a connection. It is safe for concurrent use.
type model struct {
	client *provider.Client
	conn   registry.Connection
	url    string
}

// New returns the provider of a connection; it calls nobody. Faults name what is wrong with the connection.
func New(s *provider.Shared, c registry.Connection) (llm.Provider, error) {
	return Endpoints{}.Open(s, c)
}

// Open is New for other addresses of the clouds.
func (e Endpoints) Open(s *provider.Shared, c registry.Connection) (llm.Provider, error) {
	if c.Model == "" {
		return nil, fault.InvalidField("model", "must not be empty")
	}
	address, err := e.address(c)
	if err != nil {
		return nil, err
	}
	client, err := dial(s, c, address)
	if err != nil {
		return nil, err
	}
	return &model{client: client, conn: c, url: address}, nil
}

// dial returns the client with the credentials of the connection.
func dial(s *provider.Shared, c registry.Connection, address string) (*provider.Client, error) {
	a := c.Auth
	if a == nil {
		return provider.NewClient(s, c, nil)
	}
	switch a.Type {
	case registry.Bearer:
		if _, err := provider.NewClient(s, c, nil); err != nil {
			return nil, err
		}
		return provider.NewClient(s, c, keyHeaders(a.Token, address))
	case registry.Header:
		return provider.NewClient(s, c, nil)
	case registry.BedrockAPIKey:
		return bearer(s, c, "api_key", a.APIKey)
	case registry.VertexAccessToken:
		return bearer(s, c, "access_token", a.AccessToken)
	case registry.BedrockStaticIAM:
		for member, value := range map[string]string{"aws_access_key_id": a.AWSAccessKeyID, "aws_secret_access_key": a.AWSSecretAccessKey} {
			if err := provider.CheckSecret(member, value); err != nil {
				return nil, err
			}
		}
		return provider.NewClient(s, c, signer{aws.Credentials{KeyID: a.AWSAccessKeyID, Secret: a.AWSSecretAccessKey, Region: a.Region}})
	case registry.VertexServiceAccount:
		key, err := google.Parse(a.KeyJSON)
		if err != nil {
			return nil, err
		}
		return key.Client(s, c)
	}
	return nil, fault.InvalidField("auth.type", "%q is no way to authenticate with a model of type %q", a.Type, c.Type)
}

// keyHeaders returns the headers of a token. Anthropic's own API takes its keys as x-api-key and only OAuth tokens as bearer;
// some other servers want one and some the other, so they get both.
func keyHeaders(token, address string) provider.Static {
	bearer := provider.Static{"Authorization": "Bearer " + token}
	u, err := url.Parse(address)
	own := err == nil && (u.Hostname() == "anthropic.com" || strings.HasSuffix(u.Hostname(), ".anthropic.com"))
	switch {
	case strings.HasPrefix(token, "sk-ant-oat"):
		if own {
			bearer["Anthropic-Beta"] = "oauth-2025-04-20"
		}
		return bearer
	case own:
		return provider.Static{"X-Api-Key": token}
	}
	bearer["X-Api-Key"] = token
	return bearer
}

func bearer(s *provider.Shared, c registry.Connection, member, token string) (*provider.Client, error) {
	if err := provider.CheckSecret(member, token); err != nil {
		return nil, err
	}
	return provider.NewClient(s, c, provider.Static{"Authorization": "Bearer " + token})
}

// signer signs each call for Bedrock.
type signer struct{ aws.Credentials }

// Authorize signs the request with its body.
func (s signer) Authorize(_ context.Context, r *http.Request, body []byte) error {
	s.Sign(r, body, "bedrock", time.Now())
	return nil
}

// Renew reports that there are no other credentials.
func (signer) Renew(*http.Request) bool { return false }

// Stream implements llm.Provider. A call that is refused for the way in which it asks for structured output is made again in
// the next way, and later calls start with that one.
func (m *model) Stream(ctx context.Context, r llm.Request, emit func(llm.Event) error) (llm.Answer, error) {
	if r.Format == nil {
		return m.once(ctx, r, exhausted, emit)
	}
	way := firstWay(r, m.conn.Model, hostOf(m.conn.Auth))
	for {
		next := way.next(r, m.conn.Model)
		if refused, _ := m.client.Knows(way.matter()); refused && next < exhausted {
			way = next
			continue
		}
		answer, err := m.once(ctx, r, way, emit)
		if !refusedWay(err) || next >= exhausted {
			return answer, err
		}
		m.client.Learn(way.matter(), true)
		way = next
	}
}

// refusedWay reports whether a call was refused for the way in which it asked for structured output.
func refusedWay(err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Failure != llm.Rejected || e.Begun || e.Status != 400 && e.Status != 403 && e.Status != 422 {
		return false
	}
	return provider.Mentions(strings.ToLower(e.Text),
		"output_config", "output_format", "output format", "structured", "schema", "tool_choice", "allowedpartnermodelfeatures")
}

func (m *model) once(ctx context.Context, r llm.Request, way way, emit func(llm.Event) error) (llm.Answer, error) {
	q := build(r, m.conn.Model, way)
	body, header := hostRequest(q, m.conn)
	accept := provider.Stream
	if hostOf(m.conn.Auth) == bedrock {
		accept = frames
	}
	b := m.client.NewBuilder(r, emit)
	resp, err := m.client.Do(ctx, provider.Call{URL: m.url, Body: body, Accept: accept, Header: header})
	if err != nil {
		return b.Fail(err)
	}
	defer resp.Close()
	in := &reader{request: q, model: m.conn.Model, b: b, resp: resp, open: map[int]*piece{}}
	if err := in.read(); err != nil {
		return b.Fail(err)
	}
	resp.Finish()
	return b.Done()
}

// frames is the type of Bedrock's streams.
const frames = "application/vnd.amazon.eventstream"

// read reads an answer to its end, in whichever of its three forms it comes.
func (r *reader) read() error {
	var err error
	if kind := r.resp.Header.Get("Content-Type"); strings.HasPrefix(strings.ToLower(kind), frames) {
		err = r.frames(aws.NewFrames(r.resp))
	} else {
		err = r.resp.Each(func(data []byte) error {
			if err := r.feed(data); err != nil || !r.over {
				return err
			}
			return io.EOF
		})
	}
	if err != nil {
		return err
	}
	return r.finish()
}

func (r *reader) frames(in *aws.Frames) error {
	for !r.over {
		f, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return r.resp.CutOff()
		case errors.Is(err, aws.ErrFrame):
			return r.resp.BadEvent(err)
		case err != nil:
			return err
		}
		if err := r.frame(f); err != nil {
			return err
		}
	}
	return nil
}
