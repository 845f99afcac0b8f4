package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"quarry/internal/fault"
	"quarry/internal/llm"
)

// Offer is a model on the list of an address.
type Offer struct {
	Model        string
	Capabilities Capabilities // as far as the address tells
}

// Catalog is the list of models that an address serves.
type Catalog struct {
	URI    string // what a registration of these models takes as its uri
	Offers []Offer
}

// Prober asks addresses which models they serve. Package provider implements it.
type Prober interface {
	// Catalog asks the address c.URI for its models in the way of the wire format c.Type; c.Model is empty. c.URI may be
	// the root of a provider, the base of its interface or one of its endpoints. An address that does not speak the wire
	// format, or whose answer is no list of models, is an *Error: Broken, or Rejected with the status. Lists of different
	// formats stand at the same path and look alike; they are told apart by what their entries hold.
	Catalog(ctx context.Context, c Connection) (Catalog, error)
}

// Discover describes the address to look at.
type Discover struct {
	URI            string
	Type           Type // "" finds it out
	Auth           *Auth
	Headers        map[string]string
	TestParameters map[string]json.RawMessage
}

// Candidate is a model found behind an address.
type Candidate struct {
	Type       Type
	URI, Model string
	Can        llm.Abilities
	Why        string // why the model is not verified; "" when it answered a call
}

// The bounds of looking at an address: it is asked for its lists, and the first models on them are called once each, all
// at once. A gateway may list hundreds.
const (
	maxVerified   = 5
	maxCandidates = 100
	listWithin    = 15 * time.Second
	callWithin    = 30 * time.Second
)

// Discover finds the models behind an address and calls the first few. Nothing is stored. fault.KindUnprocessable means that the
// address does not serve the stated type, or can't be asked.
func (s *Service) Discover(ctx context.Context, cmd Discover) ([]Candidate, error) {
	auth := cmd.Auth.only()
	bad := fault.Invalid()
	checkURI(cmd.URI, "uri", bad)
	checkHeaders(cmd.Headers, bad)
	if auth != nil {
		auth.check(bad)
		if f, ok := cmd.Type.find(); ok && !f.takes(auth) {
			f.refuse(auth, bad)
		}
	}
	if len(bad.Fields) > 0 {
		return nil, bad
	}
	c := Connection{URI: cmd.URI, Auth: auth, Headers: cmd.Headers, Idle: listWithin}
	found, t, err := s.catalog(ctx, c, cmd.Type)
	if err != nil {
		return nil, err
	}
	return s.verify(ctx, c, t, found, cmd.TestParameters), nil
}

// catalog asks the address for its models, first in the format of the stated type, and finds the type if none is stated.
func (s *Service) catalog(ctx context.Context, c Connection, stated Type) (Catalog, Type, error) {
	var first error
	for _, t := range order(c, stated) {
		c.Type = t
		found, err := s.list(ctx, c)
		if ctx.Err() != nil {
			return Catalog{}, "", context.Cause(ctx)
		}
		var failure *llm.Error
		switch {
		case err != nil && !errors.As(err, &failure):
			return Catalog{}, "", err
		case err == nil && (stated == "" || t == stated || sameList(t, stated)):
			return found, cmp.Or(stated, t), nil
		case err == nil:
			return Catalog{}, "", fault.Unprocessable("llm_type_mismatch", "the address serves models of type %s, not %s", t, stated)
		}
		if first == nil {
			first = err
		}
		if failure.Failure == llm.Blocked || failure.Failure == llm.Unreachable || failure.Failure == llm.TimedOut {
			break // it is not the wire format that is wrong
		}
	}
	return Catalog{}, "", probeFault(first, c.Auth)
}

// sameList reports whether two wire formats share one list of models.
func sameList(a, b Type) bool {
	x, _ := a.find()
	y, _ := b.find()
	return x.list == y.list
}

func (s *Service) list(ctx context.Context, c Connection) (Catalog, error) {
	if s.prober == nil {
		return Catalog{}, &llm.Error{Failure: llm.Unreachable, Text: "this installation can't ask addresses for their models"}
	}
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	found, err := s.prober.Catalog(ctx, c)
	if err != nil && ctx.Err() != nil {
		return found, &llm.Error{Failure: llm.TimedOut, Cause: err}
	}
	if f, refused := fault.As(err); refused { // the format can't be asked with these credentials, or not at all
		return found, &llm.Error{Failure: llm.Rejected, Text: f.Error()}
	}
	if err == nil && len(found.Offers) == 0 {
		return found, &llm.Error{Failure: llm.Broken, Text: "it lists no models"}
	}
	return found, err
}

// order returns the wire formats to try, the likeliest first: the one stated, else the one that the address looks like.
// Credentials of a kind that a format does not take are never sent in it.
func order(c Connection, stated Type) []Type {
	first, ok := stated.find()
	if !ok {
		first = formats[0]
	}
	if stated == "" {
		uri := strings.ToLower(c.URI)
		if i := slices.IndexFunc(formats, func(f format) bool { return f.address != nil && f.address.MatchString(uri) }); i >= 0 {
			first = formats[i]
		}
	}
	var out []Type
	if c.Auth == nil || first.takes(c.Auth) { // a gateway may add the credentials itself
		out = append(out, first.name)
	}
	asked := map[string]bool{first.list: true}
	for _, f := range formats {
		if !asked[f.list] && f.takes(c.Auth) {
			out = append(out, f.name)
		}
		asked[f.list] = true
	}
	return out
}

func probeFault(err error, auth *Auth) error {
	text := "the address can't be probed: none of the types that these credentials fit can be asked there"
	var failure *llm.Error
	if errors.As(err, &failure) {
		text = clean("the address can't be probed: "+failure.Error(), auth)
	}
	return fault.Unprocessable("llm_not_probed", "%s", text).Because(err)
}

// others matches the names of models that are not language models.
var others = regexp.MustCompile(`(?i)(embed|whisper|tts|dall-e|moderation|rerank|transcribe|stable-diffusion|bge-|e5-|gpt-image|imagen|sora|veo-|davinci|babbage)`)

// verify calls the first models found once each.
func (s *Service) verify(ctx context.Context, c Connection, t Type, found Catalog, extra map[string]json.RawMessage) []Candidate {
	c.Type, c.URI, c.Idle = t, cmp.Or(found.URI, c.URI), callWithin
	offers := slices.DeleteFunc(slices.Clone(found.Offers), func(o Offer) bool { return others.MatchString(o.Model) })
	if len(offers) == 0 {
		offers = found.Offers // better than nothing, the names may mislead
	}
	offers = offers[:min(len(offers), maxCandidates)]
	out := make([]Candidate, len(offers))
	var calls sync.WaitGroup
	for i, o := range offers {
		out[i] = Candidate{Type: t, URI: c.URI, Model: o.Model, Can: o.Capabilities.Over(Infer(t, o.Model)), Why: "not called: only the first few models of an address are"}
		if i < maxVerified {
			calls.Go(func() { out[i].Why = s.why(ctx, c, o.Model, extra) })
		}
	}
	calls.Wait()
	return out
}

// why explains why a model is not verified; "" when it answered.
func (s *Service) why(ctx context.Context, c Connection, model string, extra map[string]json.RawMessage) string {
	c.Name, c.Model = model, model
	p, err := s.dialer.Open(c)
	if err == nil {
		err = ask(ctx, p, c, extra)
	}
	if err == nil {
		return ""
	}
	var failure *llm.Error
	if _, ok := fault.As(err); ok || errors.As(err, &failure) {
		return clean(err.Error(), c.Auth)
	}
	return "the call failed"
}
