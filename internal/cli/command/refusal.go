package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"quarry/internal/text/fuzzy"
)

// refusal is an answer outside 2xx.
type refusal struct {
	Status   int
	Code     string            `json:"code"`
	Messages []string          `json:"messages"`
	Fields   map[string]string `json:"field_errors"`
	Request  string            `json:"request_id"`

	from   *Client
	raw    []byte
	header http.Header
	hint   string
}

func (r *refusal) Error() string {
	text := strings.Join(r.Messages, "; ")
	if text == "" {
		text = http.StatusText(r.Status)
	}
	for _, k := range slices.Sorted(maps.Keys(r.Fields)) {
		if v := r.Fields[k]; !strings.Contains(text, v) {
			text += fmt.Sprintf(" (%s: %s)", k, v)
		}
	}
	return fmt.Sprintf("%s [%d]%s", Advice(text), r.Status, r.hint)
}

// commands replaces what the service advises to call by the command that calls it.
var commands = strings.NewReplacer(
	"GET /v2/llms lists", "quarry llm list shows",
	"send a valid key in the header x-api-key", "give a valid one with --key or QUARRY_API_KEY",
)

// Advice returns a text of the service for people at a command line.
func Advice(text string) string { return commands.Replace(text) }

// Unreachable reports whether an error means that the service is not reached.
func Unreachable(err error) bool {
	var f *Failure
	return errors.As(err, &f) && f.Code == ExitUnreachable
}

// Status returns the HTTP status of a refusal, 0 for any other error.
func Status(err error) int {
	var r *refusal
	if errors.As(err, &r) {
		return r.Status
	}
	return 0
}

// NameFields puts the flags and arguments of the command in the place of the fields that a refusal blames.
func (e *Env) NameFields(err error) {
	var r *refusal
	if !errors.As(err, &r) {
		return
	}
	longest := slices.SortedFunc(maps.Keys(r.Fields), func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, field := range longest {
		known := e.FlagOf(field)
		if known == "" {
			continue
		}
		r.Fields[known] = r.Fields[field]
		delete(r.Fields, field)
		for i := range r.Messages {
			r.Messages[i] = strings.ReplaceAll(r.Messages[i], field, known)
		}
	}
}

// unknownCorpus is how the service refuses a key that no corpus has.
var unknownCorpus = regexp.MustCompile(`\bcorpus (\S+) does not exist`)

// Suggest adds the corpus that was probably meant to a refusal of one that does not exist.
func Suggest(ctx context.Context, err error) {
	var r *refusal
	if !errors.As(err, &r) || r.from == nil {
		return
	}
	if m := unknownCorpus.FindStringSubmatch(strings.Join(r.Messages, "; ")); m != nil {
		if near := r.from.NearestCorpus(ctx, m[1]); near != "" {
			r.hint = "; did you mean " + near + "?"
		}
	}
}

// NearestCorpus returns the corpus that was probably meant by a key that no corpus has, "" if there is none or the caller may not
// know.
func (c *Client) NearestCorpus(ctx context.Context, key string) string {
	keys, err := c.CorpusKeys(ctx)
	if err != nil {
		return ""
	}
	return fuzzy.Nearest(key, keys)
}

// manyCorpora bounds the keys that are looked through.
const manyCorpora = 1000

// CorpusKeys returns the keys of the corpora that the caller may see, the newest first.
func (c *Client) CorpusKeys(ctx context.Context) ([]string, error) {
	items, _, err := c.List(ctx, "/v2/corpora", "corpora", url.Values{}, manyCorpora)
	var keys []string
	for _, item := range items {
		var one struct {
			Key string `json:"key"`
		}
		if err := json.Unmarshal(item, &one); err != nil {
			return nil, err
		}
		keys = append(keys, one.Key)
	}
	return keys, err
}
